"""Singular triplets, of which GF-CF is made, against dense decompositions."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fedbench.kernels.bipartite import bipartite
from fedbench.kernels.krylov import largest_triplets


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
