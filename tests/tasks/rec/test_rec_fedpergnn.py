"""FedPerGNN: matching, pseudo-items, noise, what leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe, run
from fedbench.errors import ConfigurationError
from fedbench.methods import _fedpergnn_expansion as expansion
from fedbench.methods._fedpergnn_expansion import ExpandedPairs, clients_key, expanded, third_party, tokens_of
from fedbench.methods._fedpergnn_privacy import privatised, pseudo_gradients
from fedbench.methods.registry import build
from fedbench.seeds import generator
from fedbench.tasks.rec.arrays import ClientPairs, RecProblem
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.tasks.rec.plain_rec import pairs_of
from tests.tasks.rec.test_rec_training import training, visited
from tests.tasks.rec.toys import toy_rec, uneven

DOUBLE = Place(torch.float64)
QUIET = {"clip": None, "noise": 0.0}


def method_of(own: dict[str, Any], **changes: Any) -> Any:
    return build("fedpergnn", own, training(model={"width": 4, "layers": 2}, **changes))


def prepared(problem: RecProblem, own: dict[str, Any], seed: int = 0) -> list[ExpandedPairs]:
    method = method_of(own)
    return method.prepare(problem, describe(problem, method, (seed,), DOUBLE)).data[0]


def neighbours_by_hand(clients: list[ClientPairs], k: int) -> set[tuple[int, int, int]]:
    """Return (client, user, item number) of other clients' users of items that client k's users took."""
    mine = set(clients[k].item_ids[clients[k].train[1]].tolist())
    others = [(j, u, int(own.item_ids[i])) for j, own in enumerate(clients) if j != k for u, i in own.train.T.tolist()]
    return {(j, u, name) for j, u, name in others if name in mine}


def test_everyone_who_took_the_same_item_is_found() -> None:
    problem = uneven()
    data = prepared(problem, {"neighbours": 1000})
    for k, client in enumerate(data):
        found = {
            (int(client.senders[o]), int(data[client.senders[o]].sent[client.places[o]]), int(client.item_ids[i]))
            for o, i in client.links.T
        }
        assert found == neighbours_by_hand(problem.client_data, k) and len(found) == client.links.shape[1]


def test_at_most_so_many_of_an_item_are_drawn() -> None:
    problem = uneven()
    few, every = prepared(problem, {"neighbours": 2}), prepared(problem, {"neighbours": 1000})
    for own, other in zip(few, every, strict=True):
        counts = (np.bincount(client.links[1], minlength=client.items) for client in (own, other))
        ours, all_of_them = counts
        assert np.array_equal(ours, np.minimum(all_of_them, 2)) and all_of_them.max() > 2
    again = prepared(problem, {"neighbours": 2}, seed=1)
    assert any(not np.array_equal(a.links, b.links) for a, b in zip(few, again, strict=True))


def test_disjoint_items_add_nothing() -> None:
    problem = toy_rec(shared=0)
    for own, client in zip(prepared(problem, {}), problem.client_data, strict=True):
        assert (own.outside, own.links.shape[1], len(own.sent), len(own.pseudo)) == (0, 0, 0, 0)
        assert np.array_equal(own.train, client.train) and not own.leaving.any()


def test_the_third_party_sees_tokens_and_numbers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, seen = uneven(), []
    monkeypatch.setattr(expansion, "third_party", lambda links, *rest: seen.extend(links) or third_party(links, *rest))
    expanded(problem.client_data, 5, 0, seed=4)
    names = set(range(problem.dataset.n_items))
    for (tokens, users), client in zip(seen, problem.client_data, strict=True):
        assert tokens.dtype == np.uint64 and not names & set(tokens.tolist())
        assert users.max() < client.users and len(tokens) == client.train.shape[1]
    first, second = (tokens_of(np.arange(50), clients_key(seed)) for seed in (0, 1))
    assert len(np.unique(first)) == 50 and not np.isin(first, second).any()


def test_matching_is_by_token_alone() -> None:
    links = [(np.array([7, 9], np.uint64), np.array([0, 1])), (np.array([9, 9, 8], np.uint64), np.array([3, 4, 5]))]
    first, second = third_party(links, 10, 0)
    assert (sorted(first.users), first.tokens.tolist(), first.senders.tolist()) == ([3, 4], [9, 9], [1, 1])
    assert (second.users.tolist(), second.tokens.tolist(), second.senders.tolist()) == ([1], [9], [0])


def test_pseudo_items_are_items_that_others_average() -> None:
    problem = uneven()
    for client, own in zip(prepared(problem, {"pseudo_items": 4}), problem.client_data, strict=True):
        names = client.item_ids[client.pseudo]
        assert np.array_equal(client.item_ids[client.own], own.item_ids)
        assert not np.isin(names, own.item_ids).any() and len(np.unique(client.item_ids)) == client.items
        assert set(names) <= set(range(9, 15))
    third = prepared(problem, {"pseudo_items": 4})[2]
    assert len(third.pseudo) == 4 and third.leaving[third.pseudo].all()
    assert not np.isin(third.train[1], third.pseudo).any()


def test_pseudo_items_are_never_ranked_nor_drawn_as_negatives() -> None:
    problem = uneven()
    third, own = prepared(problem, {"pseudo_items": 6})[2], problem.client_data[2]
    found, plain = visited(third, (0, 2)), visited(own, (0, 2))
    assert found == [(u, int(third.own[i]), int(third.own[j])) for u, i, j in plain]
    assert third.whole_queries is third.queries
    assert np.array_equal(third.queries[0].items, third.own) and third.queries[0].candidates == own.items


def test_pseudo_gradients_look_like_real_ones() -> None:
    random = np.random.default_rng(0)
    real = torch.from_numpy(random.standard_normal((500, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.3], [0, 0, 0.1]]) + 2.0)
    drawn = pseudo_gradients(torch.cat([real, torch.zeros(300, 3, dtype=torch.float64)]), 40_000, random)
    assert torch.allclose(drawn.mean(0), real.mean(0), atol=0.03)
    assert torch.allclose(drawn.T.cov(), real.T.cov(), atol=0.03)
    assert pseudo_gradients(torch.zeros(5, 3), 2, random).abs().max() == 0


def test_noise_is_drawn_and_has_its_scale() -> None:
    """Gradients +-5 become +-0.1 with noise whose mean distance from its centre is 0.2."""
    values = torch.full((20_000,), 5.0, dtype=torch.float64)
    found = privatised(values, 0.1, 0.2, generator("x")) - 0.1
    assert found.median().item() == pytest.approx(0.0, abs=0.01)
    assert found.abs().mean().item() == pytest.approx(0.2, rel=0.03)
    assert torch.equal(found, privatised(values, 0.1, 0.2, generator("x")) - 0.1)


def corrected(own: dict[str, Any], problem: RecProblem) -> tuple[list[ExpandedPairs], list[dict[str, torch.Tensor]]]:
    """Return the clients, and their gradients of 0 as they leave the method."""
    method = method_of({"clip": 0.1, "noise": 0.2} | own)
    cell = describe(problem, method, (7,), DOUBLE)
    data = method.prepare(problem, cell).data
    memory, found = method.memory(cell, data, {}), []
    memory.users = [4.0]
    for k, client in enumerate(data[0]):
        shapes = {"user.weight": client.users, "item.weight": client.items, "layer1.weight": 4}
        gradients = {name: torch.zeros(1, 1, rows, 4, dtype=torch.float64) for name, rows in shapes.items()}
        method.corrected(gradients, torch.ones(1, 1, dtype=torch.bool), range(k, k + 1), memory)
        found.append({name: stack[0, 0] for name, stack in gradients.items()})
    return data[0], found


def test_all_that_leaves_is_noisy_and_the_rest_is_not() -> None:
    for client, gradients in zip(*corrected({"neighbours": 2}, uneven()), strict=True):
        noisy = {name: (values != 0).any(1).numpy() for name, values in gradients.items()}
        assert np.array_equal(noisy["item.weight"], client.leaving)
        assert np.array_equal(np.flatnonzero(noisy["user.weight"]), client.sent)
        assert noisy["layer1.weight"].all() and not client.leaving.all()


def test_noise_doesnt_depend_on_who_is_computed_together() -> None:
    """Clients of 2 and of 3 batches an epoch: who takes no step draws nothing, so that its second epoch is the same."""
    problem, method = toy_rec(12, 42, shared=0), method_of({"noise": 0.2}, local_epochs=2, batch_size=15)
    batches = {-(-client.train.shape[1] // 15) for client in problem.client_data}
    apart, together = (run(method, problem, seeds, DOUBLE).history for seeds in ((5,), (2, 5)))
    both = series(together, "train", "loss").reshape(2, 2, -1)[:, 1]
    assert len(batches) > 1 and len(set(problem.shapes)) == 1
    assert np.allclose(both, series(apart, "train", "loss"), atol=1e-9, rtol=0)


def test_with_disjoint_items_only_weights_are_noisy() -> None:
    _, found = corrected({}, toy_rec(shared=0))
    assert all(g["item.weight"].abs().max() == g["user.weight"].abs().max() == 0 for g in found)
    assert all((g["layer1.weight"] != 0).all() for g in found)
    assert not torch.equal(found[0]["layer1.weight"], found[1]["layer1.weight"])


def test_only_weights_and_common_rows_are_uploaded() -> None:
    problem, method = uneven(), method_of({"neighbours": 2, "pseudo_items": 3})
    data = method.prepare(problem, describe(problem, method, (0,), DOUBLE)).data
    cohort = start_cohort(describe(problem, method, (0,), DOUBLE), method, problem, data)
    assert set(cohort.shared) == {f"layer{n}.{part}" for n in (1, 2) for part in ("weight", "sent", "own")}
    assert list(cohort.rows) == ["item.weight"]
    assert cohort.rows["item.weight"].bytes == 4 * 4 * sum(int(client.leaving.sum()) for client in data[0])


def test_bytes_and_budget_are_in_the_record() -> None:
    problem, own = uneven(), {"neighbours": 2, "pseudo_items": 3, "expanded_after": 1}
    outcome, data = run(method_of(own), problem, (0,), DOUBLE), prepared(problem, own)
    weights, rows = 2 * (4 * 4 + 2 * 4), sum(int(client.leaving.sum()) for client in data)
    round, pairs = 4 * (3 * weights + 4 * rows), sum(client.train.shape[1] for client in data)
    sent, outside = sum(len(client.sent) for client in data), sum(client.outside for client in data)
    assert outcome.bytes_up == 256 * pairs + 2 * round + 2 * 16 * sent
    assert outcome.bytes_down == 2 * round + 2 * 16 * outside
    stated = outcome.preparation[0]
    numbers = weights + 4 * max(int(client.leaving.sum()) + len(client.sent) for client in data)
    steps = 2 * -(-max(client.train.shape[1] for client in data) // 16)
    assert (stated["numbers_in_a_gradient"], stated["local_steps"]) == (numbers, steps)
    # Five users a client, all of them in the largest batch: 2 x 0.1 / (0.2 / sqrt 5).
    assert stated["epsilon_of_a_number_in_a_step"] == pytest.approx(math.sqrt(5))
    assert stated["epsilon_of_the_run"] == pytest.approx(math.sqrt(5) * numbers * steps)
    assert "local_steps" not in run(method_of(own | QUIET), problem, (0,), DOUBLE).preparation[0]


def stated(own: dict[str, Any], problem: RecProblem, **changes: Any) -> dict[str, Any]:
    method = method_of({"clip": 0.1, "noise": 0.2} | own, **changes)
    return dict(method.prepare(problem, describe(problem, method, (0,), DOUBLE)).diagnostics[0])


def test_the_budget_is_that_of_the_noise_as_it_is_added() -> None:
    """Batches of 4 pairs or 9 users at most: scales 0.2 / 2 and 0.2 / 3, so 2 x 0.1 / 0.1 and 2 x 0.1 / (0.2 / 3)."""
    problem = uneven(users=27)
    found = stated({}, problem, batch_size=4)
    assert (found["users_in_a_batch_at_most"], found["noise_scale"]) == ([4, 4], [0.1, 0.1])
    assert found["epsilon_of_a_number_in_a_step"] == pytest.approx(2.0)
    whole = stated({}, problem, batch_size=None)
    assert whole["users_in_a_batch_at_most"] == [9, 9]
    assert whole["epsilon_of_a_number_in_a_step"] == pytest.approx(3.0)
    assert (
        found["epsilon_of_the_paper_for_a_user_in_a_step"] == 1.0 == whole["epsilon_of_the_paper_for_a_user_in_a_step"]
    )


def test_noise_of_a_client_has_the_papers_budget() -> None:
    found = stated({"noise_of": "client"}, uneven())
    assert (found["noise_scale"], found["epsilon_of_a_number_in_a_step"]) == ([0.2, 0.2], 1.0)


def test_the_budget_is_that_of_the_client_of_most_users() -> None:
    problem = toy_rec(users=10, items=45, shared=9)  # 4, 3 and 3 users
    found = stated({}, problem, batch_size=None)
    assert found["noise_scale"] == pytest.approx([0.1, 0.2 / math.sqrt(3)])
    assert found["epsilon_of_a_number_in_a_step"] == pytest.approx(2.0)


def test_the_noise_that_is_added_has_the_scale_that_is_stated() -> None:
    """A batch of 4 users: the mean distance of Laplace noise from its centre 0 is its scale, 0.2 / 2."""
    _, found = corrected({"neighbours": 50}, uneven(60, 900))
    noise = torch.cat([values[values != 0] for gradients in found for values in gradients.values()])
    assert len(noise) > 400 and noise.abs().mean().item() == pytest.approx(0.1, rel=0.1)


def test_the_scale_of_every_round_is_in_the_record() -> None:
    problem, method = uneven(), method_of({"clip": 0.1, "noise": 0.2}, rounds=2, batch_size=4)
    history, data = run(method, problem, (3,), DOUBLE).history, problem.client_data
    most = [
        [
            max(len(set(who)) for who, *_ in pairs_of(client, method.training, (3, k), round, 0))
            for k, client in enumerate(data)
        ]
        for round in (1, 2)
    ]
    assert np.allclose(series(history, "none", "noise_scale"), 0.2 / np.sqrt(most), atol=1e-12)


def losses(own: dict[str, Any], problem: RecProblem) -> np.ndarray:
    return series(run(method_of(own | QUIET, rounds=4), problem, (0,), DOUBLE).history, "train", "loss")


def test_outside_users_matter_only_after_the_exchange() -> None:
    early, late = (losses({"expanded_after": after, "pseudo_items": 0}, uneven()) for after in (1, 3))
    assert np.allclose(early[0], late[0], atol=1e-12)
    assert not np.allclose(early[1], late[1], atol=1e-6)
    alone = losses({"neighbours": 0, "pseudo_items": 0}, uneven())
    assert np.allclose(alone[:3], late[:3], atol=1e-12) and not np.allclose(alone[3], late[3], atol=1e-6)


def test_noise_without_a_bound_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="noise needs clip"):
        method_of({"clip": None})
