"""What item-table methods are made of, by hand: sums over holders, noise, groups, orders, rates, masks, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.engine.cohort import Cohort, start_cohort
from fedbench.engine.rows import RowTable
from fedbench.engine.run import describe, run
from fedbench.engine.server import server_step
from fedbench.errors import ConfigurationError
from fedbench.kernels.gradients import with_gradient_times
from fedbench.methods._activity_groups import groups_of, step_lengths
from fedbench.methods._bipartite_proxy import drawn_proxy
from fedbench.methods._gaussian import add_gaussian, gaussian_budget
from fedbench.methods._item_tables import NOTHING
from fedbench.methods._pair_losses import cross_entropy, pair_weights, squared_error, sums, times_of_users
from fedbench.methods._summed_steps import tables_of
from fedbench.methods.base import Method
from fedbench.methods.exchange import Exchange, LocalStep, Trained
from fedbench.models.vectors import ITEMS, USERS
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.tasks.rec.item_tables_support import NAMES, method_of
from tests.tasks.rec.test_rec_training import a_batch, training
from tests.tasks.rec.toys import one_client, toy_rec

DOUBLE = Place(torch.float64)
ALONE = ("fedmf", "pfedrec", "fedrap")
"""Methods that share nothing but item rows."""


def cohort_of(method: Method[Any], problem: Any) -> tuple[Cohort, Any]:
    cell = describe(problem, method, (0,), DOUBLE)
    cohort = start_cohort(cell, method, problem, [problem.client_data])
    return cohort, method.memory(cell, [problem.client_data], cohort.uploads())


# What leaves a client


@pytest.mark.parametrize("name", ALONE)
def test_only_common_item_rows_leave_a_client(name: str) -> None:
    cohort, _ = cohort_of(method_of(name), toy_rec(12, 42, shared=6))
    assert cohort.shared == ()
    assert list(cohort.rows) == [ITEMS]
    outcome = run(method_of(name), toy_rec(12, 42, shared=6), (0,), DOUBLE)
    assert outcome.bytes_up == outcome.bytes_down == 3 * (3 * 6) * 4 * 4  # rounds, rows of 3 clients, width, bytes
    assert outcome.preparation[0] == {"items_in_several_clients": 6}


@pytest.mark.parametrize("name", ALONE)
def test_with_disjoint_items_nothing_is_shared_and_the_record_says_so(name: str) -> None:
    outcome = run(method_of(name), toy_rec(12, 42, shared=0), (0,), DOUBLE)
    assert outcome.bytes_up == outcome.bytes_down == 0
    assert outcome.preparation[0] == {"items_in_several_clients": 0, "remark": NOTHING, "exchanged": "nothing"}


@pytest.mark.parametrize(
    ("name", "sent"), [("f2mf", "groups of users"), ("fedpub_rec", "matrices"), ("fedpergnn", "encrypted items"),
                       ("fedhgnn", "perturbed pairs")],
)  # fmt: skip
def test_records_say_what_is_exchanged_in_place_of_items(name: str, sent: str) -> None:
    backbone = {} if name in NAMES else {"model": {"backbone": "lightgcn"}}
    for shared, said in ((0, True), (6, False)):
        problem, method = toy_rec(12, 42, shared=shared), method_of(name, training=backbone)
        known = method.prepare(problem, describe(problem, method, (0,), DOUBLE)).diagnostics[0]
        assert known["items_in_several_clients"] == shared
        assert (sent in known.get("exchanged", "")) == said


@pytest.mark.parametrize("name", ALONE)
def test_with_disjoint_items_clients_train_as_if_alone(name: str) -> None:
    problem, alone = toy_rec(12, 42, shared=0), method_of(name)
    mixing = alone.mixing
    alone.mixing = lambda *seen: torch.eye(3, dtype=torch.float64).expand_as(mixing(*seen))  # type: ignore[method-assign]
    together, apart = (run(method, problem, (0,), DOUBLE).history for method in (method_of(name), alone))
    assert np.allclose(series(together, "train", "loss"), series(apart, "train", "loss"), atol=1e-12)


def test_a_full_upload_counts_all_items_of_all_clients() -> None:
    problem = toy_rec(12, 42, shared=6)
    part, full = (run(method_of("fedmf", variant), problem, (0,), DOUBLE) for variant in ("default", "full"))
    assert full.bytes_up == full.bytes_down == 3 * 3 * 42 * 4 * 4  # rounds, clients, items, width, bytes
    assert np.array_equal(series(part.history, "test", "ndcg@20"), series(full.history, "test", "ndcg@20"))


@pytest.mark.parametrize("shared", [0, 6])
def test_groups_report_four_numbers_and_get_two(shared: int) -> None:
    problem = toy_rec(12, 42, shared=shared)
    rows = run(method_of("fedmf"), problem, (0,), DOUBLE).bytes_up
    outcome = run(method_of("f2mf"), problem, (0,), DOUBLE)
    assert (outcome.bytes_up - rows, outcome.bytes_down - rows) == (3 * 3 * 4 * 4, 3 * 3 * 2 * 4)


def test_masks_and_users_stay_and_matrices_leave() -> None:
    cohort, _ = cohort_of(method_of("fedpub_rec"), toy_rec(12, 42, shared=6))
    assert set(cohort.shared) == {f"layer{k}.{p}.weight" for k in (1, 2) for p in ("first", "second")}
    masks = {name for name in cohort.packs[0].parameters if name.endswith(".mask")}
    assert masks == {f"layer{k}.{p}.mask" for k in (1, 2) for p in ("first", "second")}
    assert list(cohort.rows) == [ITEMS]
    assert not cohort_of(method_of("fedpub_rec", "private-items"), toy_rec(12, 42, shared=6))[0].rows


def test_the_common_part_is_averaged_and_the_local_one_stays() -> None:
    problem, method = toy_rec(12, 42, shared=6), method_of("fedrap")
    cohort, memory = cohort_of(method, problem)
    for k, pack in enumerate(cohort.packs):
        for value in pack.parameters.values():
            value.data += k
    before = [{name: value.detach().clone() for name, value in pack.parameters.items()} for pack in cohort.packs]
    with torch.no_grad():
        server_step(method, {}, {}, Exchange(cohort.cell, 1, memory, {}), cohort.rows)
    for k, (pack, old) in enumerate(zip(cohort.packs, before, strict=True)):
        assert torch.equal(pack.parameters["local.weight"], old["local.weight"])
        assert torch.equal(pack.parameters[USERS], old[USERS])
        assert torch.allclose(pack.parameters[ITEMS][0, :6], old[ITEMS][0, :6] - k + 1)  # mean of +0, +1, +2
        assert torch.allclose(pack.parameters[ITEMS][0, 6:], old[ITEMS][0, 6:])


# Means over a batch


@pytest.mark.parametrize("mean_over", ["users", "pairs"])
def test_means_over_users_and_over_pairs(mean_over: Any) -> None:
    block = RecBlock(toy_rec(shared=0).client_data[:2], DOUBLE)
    batch = a_batch(block, 9, training().ranking)
    values = torch.rand(18, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for client, rows in enumerate(torch.arange(18).split(9)):
        own: dict[int, list[float]] = {}
        for row in rows.tolist():
            own.setdefault(int(batch.user[row]), []).append(float(values[row]))
        means = {
            "users": sum(sum(each) / len(each) for each in own.values()) / len(own),
            "pairs": sum(map(sum, own.values())) / 9,
        }
        found = sums(batch, pair_weights(batch, mean_over) * values)[client]
        assert float(found) == pytest.approx(means[mean_over], abs=1e-12)
        assert float(times_of_users(batch, mean_over)[client]) == {"users": len(own), "pairs": 1}[mean_over]


# FedMF


def test_a_row_of_two_holders_changes_by_the_sum_of_their_changes() -> None:
    """Item 4 is in both clients, 3 and 5 in one; received 10, changed by +1 and +5, -2 and +7."""
    clients = [one_client(np.array([[0, 0]]), 1, 2), one_client(np.array([[0, 0]]), 1, 2)]
    for client, ids in zip(clients, ([3, 4], [4, 5]), strict=True):
        object.__setattr__(client, "item_ids", np.array(ids))
    tables = tables_of(clients, describe(toy_rec(), method_of("fedmf"), (0,), DOUBLE))
    values = [torch.full((1, 1, 2, 1), 10.0, dtype=torch.float64) for _ in range(2)]
    for client, changes in enumerate(([-2.0, 1.0], [5.0, 7.0])):
        tables.received[str(client)] = values[client].clone()
        values[client] += torch.tensor(changes)[:, None]
        tables.stretch(values[client], range(client, client + 1))
    RowTable([c.item_ids for c in clients], [v[:, 0] for v in values]).mix(torch.full((1, 2, 2), 0.5).double())
    assert [v.flatten().tolist() for v in values] == [[8.0, 16.0], [16.0, 17.0]]


def test_squared_errors_and_cross_entropies() -> None:
    scores = torch.tensor([[0.5, 1.0, -2.0]])
    assert float(squared_error(scores)) == pytest.approx(0.25 + 1 + 4)
    terms = [-math.log(1 / (1 + math.exp(-0.5))), -math.log(1 - 1 / (1 + math.exp(-1))), math.log(1 + math.exp(-2))]
    assert float(cross_entropy(scores)) == pytest.approx(sum(terms) / 3, rel=1e-6)


# F2MF


def test_the_better_served_group_takes_shorter_steps() -> None:
    sums_, users = torch.tensor([[6.0, 8.0], [2.0, 1.0]]), torch.tensor([[10.0, 10.0], [4.0, 4.0]])
    assert torch.allclose(step_lengths(sums_, users, 0.3, 1.0), torch.tensor([[1.3, 0.7], [0.7, 1.3]]))
    expected = torch.tensor([[1 + 0.3 * 2 * 0.2, 1 - 0.3 * 2 * 0.2], [1 - 0.3 * 2 * 0.25, 1 + 0.3 * 2 * 0.25]])
    assert torch.allclose(step_lengths(sums_, users, 0.3, 2.0), expected)
    assert step_lengths(torch.tensor([[6.0, 0.0]]), torch.tensor([[10.0, 0.1]]), 0.3, 1.0).tolist() == [[1.0, 1.0]]
    assert step_lengths(torch.tensor([[5.0, 5.0]]), torch.tensor([[9.0, 9.0]]), 0.3, 1.0).tolist() == [[1.0, 1.0]]


def test_users_with_more_pairs_than_the_mean_are_a_group() -> None:
    busy, quiet = (one_client(np.argwhere(np.arange(9) < np.array(n)[:, None]), 3, 9) for n in ((1, 4, 7), (1, 1, 2)))
    cell = describe(toy_rec(), method_of("f2mf"), (0,), DOUBLE)
    own, all_ = (groups_of([busy, quiet], cell, mean_of) for mean_of in ("client", "all"))
    assert [each.tolist() for each in own.member] == [[0, 0, 1], [0, 0, 1]]  # means 4 and 4 / 3; 4 is not more
    assert [each.tolist() for each in all_.member] == [[0, 1, 1], [0, 0, 0]]  # mean 16 / 6
    own.note(range(1), torch.tensor([2, 2, 0]), torch.tensor([0.2, 0.4, 3.0], dtype=torch.float64))
    performances, users = own.reports(range(1), floor=0.0)
    assert performances[0, 0].tolist() == pytest.approx([0.0, 0.7]) and users[0, 0].tolist() == [1.0, 1.0]
    assert not any(report.any() for report in own.reports(range(1, 2), floor=0.0))  # who took no step


def reported(noise: float, seeds: tuple[int, ...] = (0,), at: tuple[Any, ...] = (1, "users")) -> Tensor:
    stack = torch.zeros(len(seeds), 2, 3000, dtype=torch.float64)
    add_gaussian(stack, noise, seeds, range(4, 6), at)
    return stack


def test_noise_is_drawn_per_seed_client_round_and_report() -> None:
    drawn = reported(0.3)
    assert drawn.std().item() == pytest.approx(0.3, rel=0.05) and abs(drawn.mean().item()) < 0.02
    assert torch.equal(drawn, reported(0.3)) and torch.equal(drawn[0], reported(0.3, (7, 0))[1])
    assert torch.equal(2 * drawn, reported(0.6)) and not reported(0.0).any()
    others = [drawn[0, 1], reported(0.3, (1,))[0, 0], *(reported(0.3, at=at)[0, 0] for at in ((2, "users"), (1, "p")))]
    assert all(abs(np.corrcoef(drawn[0, 0], other)[0, 1]) < 0.1 for other in others)


def test_noise_reaches_the_steps_and_the_record() -> None:
    problem = toy_rec(12, 42, shared=6)
    runs = [run(method_of("f2mf", own={"noise": s, "rho": 2.0}), problem, (0,), DOUBLE) for s in (0.0, 0.5, 0.5)]
    gaps = [series(each.history, "none", "performance_gap") for each in runs]
    assert np.array_equal(gaps[1], gaps[2]) and not np.allclose(gaps[0], gaps[1], atol=1e-3)
    budget = runs[1].preparation[0]["reports"]
    assert budget["rho_of_the_run"] == pytest.approx(3 * 2 / (2 * 0.25))
    assert budget["epsilon_of_the_run"] == pytest.approx(12 + 2 * math.sqrt(12 * math.log(1e5)))
    assert runs[0].preparation[0]["reports"]["epsilon_of_the_run"] is None
    assert gaussian_budget(2.0, 3.0, 1, 0.1)["rho_of_a_report"] == 9 / 8


# PFedRec and FedRAP


def test_a_gradient_is_as_many_times_as_long() -> None:
    table = torch.ones(2, 3, requires_grad=True)
    same = with_gradient_times(table, torch.tensor([2.0, 5.0]))
    assert torch.equal(same, table)
    assert torch.autograd.grad((3 * same).sum(), table)[0].tolist() == [[6.0] * 3, [15.0] * 3]


@pytest.mark.parametrize("order", ["alternate", "together"])
def test_items_see_the_new_score_functions_in_alternate_order_only(order: str) -> None:
    problem, method = toy_rec(12, 42, shared=6), method_of("pfedrec", own={"order": order})
    cohort, memory = cohort_of(method, problem)
    (pack, *_), before = cohort.packs, {n: p.detach().clone() for n, p in cohort.packs[0].parameters.items()}
    batch = a_batch(pack.block, 15, method.training.ranking)
    step = LocalStep(pack.network, pack.parameters, batch, None, pack.clients, memory, 1, 0)  # type: ignore[arg-type]
    loss = method.objective(step)
    moved = not torch.equal(pack.parameters[USERS], before[USERS])
    assert moved == (order == "alternate")
    users = pack.parameters[USERS].detach() if moved else before[USERS]
    bias = pack.parameters["user.bias"].detach() if moved else before["user.bias"]
    user, item = batch.user_rows[batch.user], batch.item_rows[batch.item]
    scores = (users[0][user, None] * before[ITEMS][0][item]).sum(2) + bias[0][user]
    expected = sums(batch, pair_weights(batch, "users") * cross_entropy(scores))
    assert torch.allclose(loss, expected, atol=1e-12)
    reached = torch.autograd.grad(loss.sum(), [pack.parameters[n] for n in (USERS, ITEMS)], allow_unused=True)
    assert (reached[0] is None) == moved and reached[1] is not None


def test_items_step_by_their_number_times_the_rate() -> None:
    method = method_of("pfedrec", own={"item_rate": 80.0})
    gradients = {ITEMS: torch.ones(1, 1, 20, 4), USERS: torch.ones(1, 1, 3, 4)}
    found = method.corrected(gradients, torch.ones(1, 1, dtype=torch.bool), range(1), None)
    assert float(found[ITEMS].max()) == 1600.0 and float(found[USERS].max()) == 1.0


def test_rates_of_fedrap_fall_with_rounds_and_epochs_but_not_with_batches() -> None:
    method = method_of("fedrap", own={"item_rate": 10.0, "decay": 0.5, "epoch_decay": 0.1})
    cohort, memory = cohort_of(method, toy_rec(12, 42, shared=6))
    found = []
    for _ in range(2):
        for memory.epoch in (0, 1, 1):
            gradients = {name: torch.ones(1, 1, 1, 1, dtype=torch.float64) for name in (USERS, ITEMS, "local.weight")}
            found.append(method.corrected(gradients, torch.ones(1, 1, dtype=torch.bool), range(1), memory))
        method.mixing({}, Exchange(cohort.cell, memory.round, memory, {}))
    assert [float(each[USERS]) for each in found] == pytest.approx([1, 0.1, 0.1, 0.5, 0.05, 0.05])
    assert [float(each[ITEMS]) for each in found] == pytest.approx([10, 1, 1, 5, 0.5, 0.5])
    assert float(found[0]["local.weight"]) == 10


def test_the_weights_of_fedrap_rise() -> None:
    method = method_of("fedrap")
    tables = {ITEMS: torch.full((1, 1, 2, 4), -3.0), "local.weight": torch.full((1, 1, 2, 4), 1.0)}
    for round in (1, 30):
        expected = math.tanh(round / 10) * (0.1 * 3 - 0.1 * 16)
        assert float(method.penalty(tables, {}, round)) == pytest.approx(expected)  # type: ignore[arg-type]
    assert method_of("fedrap", "released").penalty(tables, {}, 1) is None
    assert method_of("fedrap", own={"schedule": "constant"}).strength(1) == 1.0  # type: ignore[attr-defined]


# FED-PUB


def test_the_proxy_has_disjoint_blocks_of_users_and_items() -> None:
    cell = describe(toy_rec(), method_of("fedpub_rec"), (0, 1), DOUBLE)
    proxy = drawn_proxy(3, 20, 0.5, 4, cell)
    first = proxy.taken[0].numpy()
    block = np.arange(30) // 10
    assert first.shape == (30, 30) and not first[block[:, None] != block].any()
    assert first.sum() == pytest.approx(150, abs=35)
    assert not np.array_equal(first, proxy.taken[1].numpy())
    assert proxy.users.shape == (2, 30, 4) and not torch.equal(proxy.users[0], proxy.users[1])


def test_the_record_says_how_large_masks_are_and_they_are_not_sent() -> None:
    problem, method = toy_rec(12, 42, shared=0), method_of("fedpub_rec", own={"mask_threshold": 0.5})
    cohort, memory = cohort_of(method, problem)
    for k, pack in enumerate(cohort.packs):
        masks = [value for name, value in pack.parameters.items() if name.endswith(".mask")]
        for value in masks:
            value.data.fill_(-0.25 * k)
        masks[0].data[..., 0, 0] = 2.0
    with torch.no_grad():
        views = [
            (cohort.by_client(p.network.effective(p.parameters)), cohort.by_client(p.parameters)) for p in cohort.packs
        ]
        signals = [
            method.signals(Trained(pack.network, *both, pack.block, pack.clients, memory))
            for pack, both in zip(cohort.packs, views, strict=True)
        ]
        joined = {name: torch.cat([part[name] for part in signals], dim=1) for name in signals[0]}
        step = server_step(method, cohort.uploads(), joined, Exchange(cohort.cell, 1, memory, {}), cohort.rows)
    entries, sizes = 4 * 16, torch.tensor([[0.0, 0.25, 0.5]], dtype=torch.float64)
    assert torch.allclose(step.diagnostics["mask_mean"], sizes + (2 - sizes) / entries)
    assert torch.allclose(step.diagnostics["masks_under_threshold"], torch.full((1, 3), 1 - 1 / entries).double())
    assert step.traffic.up - step.traffic.down == 3 * 4 * 8  # clients, bytes, h of two layers of width 4


def test_alike_clients_are_mixed_evenly_and_others_less() -> None:
    problem, method = toy_rec(12, 42, shared=0), method_of("fedpub_rec", own={"tau": 50.0})
    weights = run(method, problem, (0,), DOUBLE).mixing[3][0]
    assert torch.allclose(weights.sum(1), torch.ones(3, dtype=torch.float64))
    assert (weights.diagonal() >= weights.max(1).values - 1e-12).all() and weights.min() < 0.33


# Refusals


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("fedmf", {"model": {"backbone": "lightgcn"}}, "backbone 'lightgcn'"),
        ("fedmf", {"evaluated_after": "local_steps"}, "evaluated_after 'local_steps'"),
        ("pfedrec", {"optimiser": "adam"}, "optimiser 'adam'"),
        ("fedrap", {"weight_decay": 0.1}, "weight_decay '0.1'"),
        ("fedpub_rec", {"model": {"backbone": "lightgcn"}}, "ngcf, whose layers have matrices"),
    ],
)
def test_what_a_method_cannot_do_is_refused(name: str, changes: dict[str, Any], said: str) -> None:
    summed = {"combined": "sum"} if name == "fedmf" else {}
    with pytest.raises(ConfigurationError, match=said):
        method_of(name, own=summed, training=changes)
