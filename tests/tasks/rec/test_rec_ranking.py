"""Full-ranking evaluation against plain loops over users, and against PyG's metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.metrics import LinkPredNDCG, LinkPredRecall

from fedbench.kernels.topk import largest
from fedbench.models.ranking import InnerProduct
from fedbench.tasks.rec.arrays import ClientPairs
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.rec.evaluation import CUTOFF, OnItems, rankings
from fedbench.tasks.rec.metrics import hits, ndcg, recall
from fedbench.tasks.rec.query import Lists
from fedbench.tasks.task import Place
from tests.tasks.rec.toys import one_client, toy_rec

DOUBLE = Place(torch.float64)


class Fixed:
    """A network that is its scores, [users, items]."""

    def __init__(self, scores: np.ndarray) -> None:
        self.table = torch.from_numpy(scores)

    def scorers(self, parameters: object, block: RecBlock) -> list[InnerProduct]:
        return [InnerProduct(self.table, torch.eye(self.table.shape[1], dtype=torch.float64)) for _ in block.clients]


def plain_lists(client: ClientPairs, scores: np.ndarray, hidden: tuple[str, ...]) -> dict[int, list[int]]:
    """Sort every item of every user."""
    taken = {(int(u), int(i)) for split in hidden for u, i in getattr(client, split).T}
    return {
        user: [i for i in sorted(range(client.items), key=lambda i: -scores[user, i]) if (user, i) not in taken]
        for user in range(client.users)
    }


def plain_figures(client: ClientPairs, scores: np.ndarray, split: str) -> tuple[float, float, int]:
    """Return Recall@20, NDCG@20 and the number of users, one user after another."""
    hidden = {"val": ("train",), "test": ("train", "val")}[split]
    lists, recalls, gains = plain_lists(client, scores, hidden), [], []
    for user in range(client.users):
        wanted = {int(i) for u, i in getattr(client, split).T if u == user}
        if not wanted:
            continue
        found = [item in wanted for item in lists[user][:20]]
        recalls.append(sum(found) / len(wanted))
        gain = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(found, 1) if hit)
        gains.append(gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), 20) + 1)))
    return float(np.mean(recalls)), float(np.mean(gains)), len(recalls)


def random_client(seed: int, users: int, items: int) -> tuple[ClientPairs, np.ndarray]:
    random = np.random.default_rng(seed)
    pairs = np.argwhere(random.random((users, items)) < random.uniform(0.02, 0.4))
    client = one_client(pairs, users, items, random.choice(3, len(pairs), p=[0.6, 0.2, 0.2]))
    return client, random.standard_normal((users, items))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.sampled_from([3, 19, 21, 150, 1500]))
def test_lists_and_figures_are_those_of_sorting_everything(seed: int, users: int, items: int) -> None:
    client, scores = random_client(seed, users, items)
    if not client.val.size or not client.test.size:
        return
    (query,) = client.queries
    ranked = rankings(Fixed(scores).scorers({}, RecBlock([client], DOUBLE))[0], query, DOUBLE.device)
    found = OnItems({"val": 1, "test": 1}, 1).figures(Fixed(scores), {}, RecBlock([client], DOUBLE), False)
    for split, hidden in (("val", ("train",)), ("test", ("train", "val"))):
        lists = plain_lists(client, scores, hidden)
        for row, user in zip(ranked[split], query.users.tolist(), strict=True):
            visible = lists[user][:CUTOFF]
            assert row[: len(visible)].tolist() == visible
        expected = plain_figures(client, scores, split)
        got = [found[metric, split].item() for metric in ("recall@20", "ndcg@20", "users")]
        assert got == pytest.approx(expected, abs=1e-12)


@contextmanager
def double_precision() -> Iterator[None]:
    """PyG's metrics compute in torch's default precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def figures_of_pyg(client: ClientPairs, scores: np.ndarray, split: str) -> list[float]:
    """Return PyG's Recall@20 and NDCG@20 of torch's 20 largest scores: means over users with an item to look for.

    Its ideal list has min(items looked for, 20) hits, as the suite's.
    """
    table = torch.from_numpy(scores.copy())
    for hidden in {"val": ("train",), "test": ("train", "val")}[split]:
        table[tuple(torch.from_numpy(getattr(client, hidden)))] = float("-inf")
    lists = table.topk(min(20, client.items), dim=1).indices
    found = []
    with double_precision():
        for metric in (LinkPredRecall(k=20), LinkPredNDCG(k=20)):
            metric.update(lists, torch.from_numpy(getattr(client, split)))
            found.append(float(metric.compute()))
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.sampled_from([3, 19, 20, 21, 150, 800]))
def test_figures_are_those_of_pygs_metrics(seed: int, users: int, items: int) -> None:
    client, scores = random_client(seed, users, items)
    found = OnItems({"val": 1, "test": 1}, 1).figures(Fixed(scores), {}, RecBlock([client], DOUBLE), False)
    for split in ("val", "test"):
        if getattr(client, split).size:
            got = [found[metric, split].item() for metric in ("recall@20", "ndcg@20")]
            assert got == pytest.approx(figures_of_pyg(client, scores, split), abs=1e-12)


def test_the_random_cases_have_users_who_look_for_more_than_the_cutoff() -> None:
    """So that a recall over hits alone, or an ideal list as long as what is looked for, would be found out."""
    client, _ = random_client(3, 30, 800)
    assert np.bincount(client.test[0]).max() > 20


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 9), st.sampled_from([1, 31, 700, 1300, 2000]), st.integers(1, 20))
def test_the_largest_entries_are_those_of_a_full_sort(seed: int, rows: int, columns: int, count: int) -> None:
    scores = torch.from_numpy(np.random.default_rng(seed).permutation(rows * columns).reshape(rows, columns) + 0.0)
    count = min(count, columns)
    assert torch.equal(largest(scores, count), scores.argsort(dim=1, descending=True)[:, :count])


def test_equal_and_hidden_scores_still_give_the_largest_values() -> None:
    scores = torch.from_numpy(np.random.default_rng(0).integers(0, 3, (5, 2000)).astype(float))
    scores[:, 100:1900] = float("-inf")
    assert torch.equal(scores.gather(1, largest(scores, 20)), scores.topk(20, dim=1).values)


def test_recall_and_ndcg_by_hand() -> None:
    wanted = Lists(np.array([0, 2, 3, 3]), np.array([4, 9, 7]))
    found = hits(np.array([[9, 1, 4], [1, 2, 3], [4, 9, 7]]), wanted)
    assert found.tolist() == [[True, False, True], [False] * 3, [False] * 3]
    assert recall(found, wanted.lengths)[:2].tolist() == [1.0, 0.0]
    assert np.isnan(recall(found, wanted.lengths)[2])
    assert ndcg(found, wanted.lengths, 3)[0] == pytest.approx((1 + 0.5) / (1 + 1 / math.log2(3)))


def test_the_ideal_list_is_cut_at_k_and_counts_what_was_missed() -> None:
    assert ndcg(np.ones((1, 3), dtype=bool), np.array([50]), 3)[0] == 1.0
    one = ndcg(np.array([[True, False, False]]), np.array([3]), 3)[0]
    assert one == pytest.approx(1 / (1 + 1 / math.log2(3) + 0.5))


def test_averages_over_users_are_plain_means_of_their_figures() -> None:
    problem = toy_rec()
    random = np.random.default_rng(1)
    scores = [random.standard_normal((c.users, c.items)) for c in problem.client_data]
    from fedbench.tasks.rec.task import TASK

    evaluator = TASK.evaluator(problem, None, DOUBLE)  # type: ignore[arg-type]
    found = [
        evaluator.figures(Fixed(s), {}, RecBlock([c], DOUBLE), False)  # type: ignore[arg-type]
        for c, s in zip(problem.client_data, scores, strict=True)
    ]
    for metric, place in (("recall@20", 0), ("ndcg@20", 1)):
        plain = [plain_figures(c, s, "test") for c, s in zip(problem.client_data, scores, strict=True)]
        users = sum(each[2] for each in plain)
        by_user = np.mean([figures[f"{metric}_by_user", "test"].item() for figures in found])
        assert by_user == pytest.approx(sum(each[place] * each[2] for each in plain) / users, abs=1e-12)


def test_pooled_users_are_ranked_among_their_own_clients_items() -> None:
    problem, random = toy_rec(), np.random.default_rng(2)
    scores = random.standard_normal((90, 180))
    whole = OnItems({"val": 1, "test": 1}, 1).figures(
        Fixed(scores), {}, RecBlock([problem.pooled_data()], DOUBLE), False
    )
    for k, client in enumerate(problem.client_data):
        own = scores[np.ix_(problem.partition.users_of(k), problem.partition.items_of(k))]
        assert whole["ndcg@20", "test"][k].item() == pytest.approx(plain_figures(client, own, "test")[1], abs=1e-12)


def test_a_client_without_held_out_pairs_has_no_figure() -> None:
    client = one_client(np.array([[0, 1], [1, 0]]), 2, 4)
    found = OnItems({"val": 0, "test": 0}, 1).figures(Fixed(np.zeros((2, 4))), {}, RecBlock([client], DOUBLE), False)
    assert np.isnan(found["recall@20", "test"].item())
    assert found["recall@20_by_user", "test"].item() == 0.0
