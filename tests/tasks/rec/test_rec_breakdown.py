"""Figures by popularity, on the balanced test and among all items, against plain loops over users."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from fedbench.tasks.rec.arrays import ClientPairs, RecProblem
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.rec.breakdown import THIRDS, one_of_each_item, sizes, thirds
from fedbench.tasks.rec.query import Lists
from fedbench.tasks.rec.task import TASK
from fedbench.tasks.task import Place
from tests.tasks.rec.test_rec_ranking import Fixed
from tests.tasks.rec.toys import one_client, toy_rec

DOUBLE = Place(torch.float64)
Pairs = set[tuple[int, int]]


def pairs_of(problem: RecProblem, split: int) -> Pairs:
    rows = problem.dataset.pairs_of(split)
    return set(zip(*(values.tolist() for values in rows), strict=True))


def plain(lists: dict[int, list[int]], wanted: Pairs, users: set[int]) -> tuple[float, float]:
    """Return Recall@20 and NDCG@20 over the users who want something; lists and pairs by data set numbers."""
    recalls, gains = [], []
    for user in users:
        mine = {item for u, item in wanted if u == user}
        if mine:
            hit = [item in mine for item in lists[user][:20]]
            recalls.append(sum(hit) / len(mine))
            best = sum(1 / math.log2(place + 2) for place in range(min(len(mine), 20)))
            gains.append(sum(h / math.log2(place + 2) for place, h in enumerate(hit)) / best)
    return (float(np.mean(recalls)), float(np.mean(gains))) if recalls else (math.nan, math.nan)


def plain_lists(problem: RecProblem, scores: np.ndarray, users: set[int], items: set[int]) -> dict[int, list[int]]:
    """Sort the candidates of every user; training and validation items are hidden."""
    taken = pairs_of(problem, 0) | pairs_of(problem, 1)
    return {
        u: [i for i in sorted(items, key=lambda i, u=u: -scores[u, i]) if (u, i) not in taken]  # type: ignore[misc]
        for u in users
    }


def plain_thirds(problem: RecProblem) -> list[set[int]]:
    degree = Counter(item for _, item in pairs_of(problem, 0))
    ordered = sorted(degree, key=lambda item: (degree[item], item))
    return [{item for at, item in enumerate(ordered) if at * 3 // len(ordered) == third} for third in range(3)]


def measured(problem: RecProblem, client: ClientPairs, scores: np.ndarray, last: bool = False) -> Any:
    evaluator = TASK.evaluator(problem, None, DOUBLE)  # type: ignore[arg-type]
    return evaluator.figures(Fixed(scores), {}, RecBlock([client], DOUBLE), last)  # type: ignore[arg-type]


@pytest.fixture(params=[(1, 0), (40, 1)], ids=["items disjoint", "items shared"])
def problem(request: pytest.FixtureRequest) -> RecProblem:
    shared, seed = request.param
    return toy_rec(users=24, items=90, shared=shared, seed=seed)


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(5).standard_normal((24, 90))


@pytest.mark.parametrize("k", [0, 2])
def test_figures_by_third_and_among_all_items_are_those_of_plain_loops(
    problem: RecProblem, scores: np.ndarray, k: int
) -> None:
    users, items = (set(getattr(problem.partition, f"{what}_of")(k).tolist()) for what in ("users", "items"))
    found = measured(problem, problem.client_data[k], scores[np.ix_(sorted(users), sorted(items))])
    lists, wanted = plain_lists(problem, scores, users, items), pairs_of(problem, 2)
    for name, third in zip(THIRDS, plain_thirds(problem), strict=True):
        inside = {(u, i) for u, i in wanted if i in items & third}
        got = [found[f"{metric}@20_{name}", "test"].item() for metric in ("recall", "ndcg")]
        assert got == pytest.approx(plain(lists, inside, users), abs=1e-12, nan_ok=True)
    got = [found[f"{metric}@20_global", "test"].item() for metric in ("recall", "ndcg")]
    assert got == pytest.approx(plain(lists, wanted, users), abs=1e-12)


def test_a_model_of_all_items_is_ranked_among_them_all(problem: RecProblem, scores: np.ndarray) -> None:
    found = measured(problem, problem.pooled_data(), scores)
    for k in range(problem.clients):
        users = set(problem.partition.users_of(k).tolist())
        lists = plain_lists(problem, scores, users, set(range(90)))
        got = [found[f"{metric}@20_global", "test"][k].item() for metric in ("recall", "ndcg")]
        assert got == pytest.approx(plain(lists, pairs_of(problem, 2), users), abs=1e-12)


def test_a_pooled_model_and_a_clients_own_meet_the_same_balanced_test(problem: RecProblem, scores: np.ndarray) -> None:
    whole = measured(problem, problem.pooled_data(), scores)
    for k, client in enumerate(problem.client_data):
        own = scores[np.ix_(problem.partition.users_of(k), problem.partition.items_of(k))]
        found = measured(problem, client, own)
        for name in (*THIRDS, "balanced"):
            for metric in ("recall", "ndcg"):
                key = f"{metric}@20_{name}", "test"
                assert whole[key][k].item() == pytest.approx(found[key].item(), abs=1e-12, nan_ok=True)


def test_the_balanced_test_has_one_pair_of_each_item_drawn_evenly() -> None:
    wanted = Lists(np.array([0, 2, 3, 6]), np.array([4, 9, 9, 1, 4, 9]))
    drawn = Counter(
        tuple(np.flatnonzero(one_of_each_item(wanted, np.random.default_rng(seed))).tolist()) for seed in range(900)
    )
    for draw in drawn:
        assert sorted(wanted.items[list(draw)].tolist()) == [1, 4, 9]
    of_nine = Counter(pair for draw, times in drawn.items() for pair in draw if wanted.items[pair] == 9
                      for _ in range(times))  # fmt: skip
    assert set(of_nine) == {1, 2, 5}
    assert all(240 < times < 360 for times in of_nine.values())  # 300 expected, standard deviation 14


def test_balanced_figures_are_those_of_the_pairs_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = toy_rec(users=24, items=90)
    scores = np.random.default_rng(5).standard_normal((24, 90))
    users, items = problem.partition.users_of(1), problem.partition.items_of(1)
    client = problem.client_data[1]
    query = client.queries[0]
    some = np.random.default_rng(0).random(query.test.items.size) < 0.4
    monkeypatch.setattr("fedbench.tasks.rec.breakdown.one_of_each_item", lambda *_: some)
    found = measured(problem, client, scores[np.ix_(users, items)])
    owner = query.users[np.repeat(np.arange(len(query.users)), query.test.lengths)]
    wanted = {(int(users[u]), int(items[i])) for u, i in zip(owner[some], query.test.items[some], strict=True)}
    lists = plain_lists(problem, scores, set(users.tolist()), set(items.tolist()))
    got = [found[f"{metric}@20_balanced", "test"].item() for metric in ("recall", "ndcg")]
    assert got == pytest.approx(plain(lists, wanted, set(users.tolist())), abs=1e-12)


def test_thirds_by_hand() -> None:
    assert thirds(np.array([5, 0, 1, 1, 9, 2, 2])).tolist() == [2, -1, 0, 0, 2, 1, 1]
    assert thirds(np.zeros(2, dtype=int)).tolist() == [-1, -1]


def test_sizes_are_noted_at_the_end_alone() -> None:
    problem = toy_rec(users=24, items=90)
    client, scores = problem.client_data[0], np.zeros((8, problem.client_data[0].items))
    assert ("pairs_outside", "test") not in measured(problem, client, scores)
    found = measured(problem, client, scores, last=True)
    users, items = (set(getattr(problem.partition, f"{what}_of")(0).tolist()) for what in ("users", "items"))
    mine = {pair for pair in pairs_of(problem, 2) if pair[0] in users}
    inside = sum(item in items for _, item in mine)
    got = [found[name, "test"].item() for name in ("candidates", "pairs", "pairs_outside")]
    assert got == [len(items), inside, len(mine) - inside]


def test_a_client_by_itself_has_nothing_outside() -> None:
    client = one_client(np.array([[0, 0], [0, 1], [1, 0]]), 2, 3, np.array([0, 2, 2]))
    assert sizes(client, 0) == {"candidates": 3, "pairs": 2, "pairs_outside": 0}
