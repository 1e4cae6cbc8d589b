"""Controls that train nothing, against dense programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fedbench.engine.run import run
from fedbench.kernels.bipartite import bipartite
from fedbench.kernels.krylov import largest_triplets
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.reference.methods import gfcf, popularity
from tests.tasks.rec.test_rec_ranking import plain_figures
from tests.tasks.rec.test_rec_training import training
from tests.tasks.rec.toys import toy_rec

DOUBLE = Place(torch.float64)


def figures(name: str, own: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    found = run(build(name, own, training(rounds=1)), toy_rec(), (0,), DOUBLE).history
    return series(found, "test", "recall@20")[0], series(found, "test", "ndcg@20")[0]


def test_popularity_counts_pairs() -> None:
    recall, ndcg = figures("popularity", {})
    for k, client in enumerate(toy_rec().client_data):
        expected = plain_figures(client, popularity.scores(client.taken.toarray()), "test")
        assert (recall[k], ndcg[k]) == pytest.approx(expected[:2], abs=1e-12)


@pytest.mark.parametrize(("vectors", "alpha"), [(0, 0.3), (4, 0.3), (4, 5.0), (256, 0.3)])
def test_gfcf_filters_each_clients_own_graph(vectors: int, alpha: float) -> None:
    recall, ndcg = figures("gfcf", {"vectors": vectors, "alpha": alpha})
    for k, client in enumerate(toy_rec().client_data):
        expected = plain_figures(client, gfcf.scores(client.taken.toarray(), vectors, alpha), "test")
        assert (recall[k], ndcg[k]) == pytest.approx(expected[:2], abs=1e-12)


def test_centralised_gfcf_filters_the_whole_graph() -> None:
    recall, ndcg = figures("gfcf_centralised", {"vectors": 6})
    problem = toy_rec()
    scores = gfcf.scores(problem.pooled_data().taken.toarray(), 6, 0.3)
    for k, client in enumerate(problem.client_data):
        own = scores[np.ix_(problem.partition.users_of(k), problem.partition.items_of(k))]
        assert (recall[k], ndcg[k]) == pytest.approx(plain_figures(client, own, "test")[:2], abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 60), st.integers(2, 60), st.integers(1, 12))
def test_triplets_are_those_of_a_dense_decomposition(seed: int, users: int, items: int, rank: int) -> None:
    taken = sparse.csr_matrix(np.random.default_rng(seed).random((users, items)) < 0.2, dtype=np.float32)
    if not taken.nnz:
        return
    matrix = bipartite([taken], torch.float64, torch.device("cpu"))
    found = largest_triplets(matrix, rank, np.random.default_rng(0), tolerance=1e-9)
    rows = np.repeat(np.arange(users), np.diff(taken.indptr))
    dense = sparse.csr_matrix((matrix.numbers.numpy(), (rows, taken.indices)), taken.shape).toarray()
    values = np.linalg.svd(dense)[1][:rank]
    values = values[values > 1e-6]
    assert np.allclose(found.values, values, atol=1e-8)
    assert np.allclose(dense @ found.right.numpy(), found.left.numpy() * found.values.numpy(), atol=1e-8)
    assert np.allclose(found.right.T @ found.right, np.eye(len(values)), atol=1e-8)


def test_a_value_that_many_components_share_is_found_as_often() -> None:
    """Five components, each a complete graph of 40 users and 50 items, have the value 1 five times."""
    taken = sparse.csr_matrix(np.kron(np.eye(5), np.ones((40, 50))), dtype=np.float32)
    found = largest_triplets(bipartite([taken], torch.float64, torch.device("cpu")), 5, np.random.default_rng(0))
    assert np.allclose(found.values, 1.0)
