"""FedHGNN: what is published, meta-paths, what is sent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from fedbench.engine.run import describe, run
from fedbench.methods._fedhgnn_paths import path_neighbours
from fedbench.methods._fedhgnn_perturbation import Groups, drawn_groups, item_groups, perturbed, randomised
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.reference.methods.fedhgnn import path_edges
from tests.tasks.rec.test_rec_training import training
from tests.tasks.rec.toys import toy_rec, without_training_pairs

DOUBLE = Place(torch.float64)
SMALL = {"groups": 4, "vectors": 3, "neighbours": 5, "hidden": 3}


def method_of(own: dict[str, Any], **changes: Any) -> Any:
    return build("fedhgnn", SMALL | own, training(model={"width": 4}, **changes))


def test_randomised_response_keeps_degrees_and_little_else() -> None:
    """Of 100 bits, 10 ones, with budget 1: p = 0.731, q = 10 / (10 x 0.462 + 100 x 0.269) = 0.317."""
    random, taken = np.random.default_rng(0), np.arange(5, 15)
    found = [randomised(taken, 100, 1.0, random) for _ in range(4000)]
    stays = math.e / (1 + math.e)
    kept = 10 / (10 * (2 * stays - 1) + 100 * (1 - stays))
    times = np.bincount(np.concatenate(found), minlength=100) / 4000
    assert np.mean([len(each) for each in found]) == pytest.approx(10, abs=0.2)
    assert times[5:15].mean() == pytest.approx(stays * kept, abs=0.01)
    others = np.delete(times, np.arange(5, 15))
    assert others.mean() == pytest.approx((1 - stays) * kept, abs=0.005)
    assert np.abs(others - others.mean()).max() < 5 * np.sqrt(0.085 / 4000)
    assert all((np.diff(each) > 0).all() for each in found)


def test_a_large_budget_publishes_the_truth_and_a_full_group_stays_inside() -> None:
    random, taken = np.random.default_rng(0), np.array([1, 4, 7])
    assert randomised(taken, 9, 50.0, random).tolist() == [1, 4, 7]
    assert set(randomised(np.arange(3), 3, 1.0, random)) <= {0, 1, 2}


def test_groups_are_drawn_by_the_exponential_mechanism() -> None:
    """A user of group 0 alone: probabilities are exp(eps quality / 2), quality being the similarity with group 0."""
    similarity, users = np.array([[1.0, 0.8, 0.1], [0.8, 1.0, 0.3], [0.1, 0.3, 1.0]]), 20_000
    counts = np.tile([4, 0, 0], (users, 1))
    drawn = drawn_groups(counts, similarity, 6.0, np.random.default_rng(0))
    expected = np.exp(3 * similarity[0])
    assert (drawn.sum(1) == 1).all()
    assert np.allclose(drawn.mean(0), expected / expected.sum(), atol=0.01)


def test_a_budget_is_divided_among_a_users_draws() -> None:
    """With two groups the first draw has half the budget: which pair is left out follows from exp(eps / 2 q / 2)."""
    similarity, users = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]), 20_000
    drawn = drawn_groups(np.tile([2, 3, 0], (users, 1)), similarity, 4.0, np.random.default_rng(1))
    weight = np.exp(1.0 * np.array([1.0, 1.0, 0.0]))  # both own groups have quality 1, the third 0
    share = weight / weight.sum()
    without_third = 2 * share[0] * share[1] / (1 - share[0])
    assert (drawn.sum(1) == 2).all()
    assert (~drawn[:, 2]).mean() == pytest.approx(without_third, abs=0.01)


def many_users(seed: int = 0) -> tuple[sparse.csr_matrix, Groups]:
    random = np.random.default_rng(seed)
    taken = sparse.csr_matrix(random.random((600, 80)) < 0.15, dtype=np.float32)
    return taken, item_groups(taken, 5, 4)


def test_perturbation_keeps_users_degrees() -> None:
    taken, groups = many_users()
    found = [perturbed(taken, groups, (1.0, 1.0), np.random.default_rng(run)) for run in range(6)]
    degree = np.diff(taken.indptr)
    published = sum(np.bincount(pairs[0], minlength=600) for pairs in found) / 6
    assert published.sum() == pytest.approx(degree.sum(), rel=0.03)
    assert np.corrcoef(published, degree)[0, 1] > 0.8
    assert all(len(np.unique(pairs, axis=1).T) == pairs.shape[1] for pairs in found)
    assert all(pairs[1].max() < 80 and (np.diff(pairs[0]) >= 0).all() for pairs in found)


def test_the_truth_shows_only_with_a_large_budget() -> None:
    taken, groups = many_users()
    dense, random = taken.toarray() > 0, np.random.default_rng(0)
    share = {}
    for budget in (0.01, 50.0):
        user, item = perturbed(taken, groups, (budget, budget), random)
        share[budget] = dense[user, item].mean()
    assert share[0.01] < 0.3  # by chance 0.15, and a drawn group that the user has holds more
    user, item = perturbed(taken, groups, (5000.0, 50.0), random)
    assert dense[user, item].mean() > 0.99


def test_a_user_without_pairs_publishes_nothing() -> None:
    taken = sparse.csr_matrix(np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]], dtype=np.float32))
    pairs = perturbed(taken, item_groups(taken, 2, 2), (1.0, 50.0), np.random.default_rng(0))
    assert 1 not in pairs[0]


def test_items_that_nobody_took_are_one_group() -> None:
    taken = sparse.csr_matrix((3, 5), dtype=np.float32)
    groups = item_groups(taken, 4, 2)
    assert groups.label.tolist() == [0] * 5 and groups.similarity.tolist() == [[1.0]]
    assert perturbed(taken, groups, (1.0, 1.0), np.random.default_rng(0)).shape == (2, 0)


def test_a_client_without_training_pairs_takes_part() -> None:
    problem, method = without_training_pairs(toy_rec(24, 60, shared=8), 1), method_of({})
    prepared = method.prepare(problem, describe(problem, method, (0,), DOUBLE))
    assert problem.client_data[1].train.shape[1] == 0 == prepared.data[0][1].user_paths.nnz - 8  # themselves alone
    history = run(method, problem, (0,), DOUBLE).history
    losses, figures = series(history, "train", "loss"), series(history, "test", "ndcg@20")
    assert np.isnan(losses[:, 1]).all() and np.isfinite(losses[:, [0, 2]]).all() and np.isfinite(figures).all()


def test_what_is_published_depends_on_seed_and_client_only() -> None:
    problem, method = toy_rec(), method_of({})
    cells = [describe(problem, method, seeds, DOUBLE) for seeds in ((5,), (2, 5))]
    alone, block = (method.prepare(problem, cell) for cell in cells)
    for one, other in zip(alone.data[0], block.data[1], strict=True):
        assert (one.item_paths != other.item_paths).nnz == (one.user_paths != other.user_paths).nnz == 0
    assert any((a.item_paths != b.item_paths).nnz for a, b in zip(block.data[0], block.data[1], strict=True))
    assert alone.diagnostics[0] == block.diagnostics[1]


def test_the_server_needs_published_pairs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two federations whose clients publish the same have the same meta-paths, whatever their true pairs are."""
    method, fixed = method_of({}), np.array([[0, 0, 1, 2], [0, 3, 3, 4]])
    monkeypatch.setattr(type(method), "_published", lambda *_: fixed)
    first, second = (
        method.prepare(problem, describe(problem, method, (0,), DOUBLE)).data[0]
        for problem in (toy_rec(seed=0), toy_rec(seed=1))
    )
    for one, other in zip(first, second, strict=True):
        assert one.train.shape != other.train.shape or not np.array_equal(one.train, other.train)
        assert (one.item_paths != other.item_paths).nnz == (one.user_paths != other.user_paths).nnz == 0


def test_neighbours_share_most_columns() -> None:
    matrix = sparse.csr_matrix(np.random.default_rng(0).random((300, 20)) < 0.2, dtype=np.int32)
    for most in (2, 400):
        found = path_neighbours(matrix, most)
        expected = np.zeros((300, 300))
        expected[tuple(path_edges(matrix.toarray(), most).flip(0))] = 1
        assert np.array_equal(found.toarray(), expected)


def test_budgets_and_bytes_are_in_the_record() -> None:
    problem, method = toy_rec(24, 60, shared=7), method_of({"group_budget": 2.0, "pair_budget": 0.5})
    prepared = method.prepare(problem, describe(problem, method, (0,), DOUBLE))
    stated, outcome = prepared.diagnostics[0], run(method, problem, (0,), DOUBLE)
    assert (stated["epsilon_of_the_groups_of_a_user"], stated["epsilon_of_a_pair"]) == (2.0, 0.5)
    assert stated["pairs"] == sum(client.train.shape[1] for client in problem.client_data)
    assert 0 < stated["true_pairs_published"] < stated["published_pairs"]
    weights = 2 * (4 * 6 + 2 * 6 + 6 * 4 + 4)
    rounds = 2 * 3 * 4 * (weights + 7 * 4)
    assert outcome.bytes_up == 8 * stated["published_pairs"] + rounds
    paths = sum(client.user_paths.nnz + client.item_paths.nnz for client in prepared.data[0])
    assert outcome.bytes_down == 8 * paths + rounds
