"""Clients' features, stored either way, against plain products of one client at a time."""

import numpy as np
import pytest
import torch

from fedbench.kernels import features
from fedbench.kernels.features import Coordinates, DenseFeatures, SparseFeatures, features_of

DOUBLE = {"dtype": torch.float64, "device": torch.device("cpu")}


def clients(sizes=(4, 2), width=3, seed=0):
    random = np.random.default_rng(seed)
    return [random.normal(size=(size, width)) * (random.random((size, width)) < 0.6) for size in sizes]


def by_coordinates(matrix):
    rows, columns = np.nonzero(matrix)
    return Coordinates(rows, columns, matrix[rows, columns])


def stored(matrices, slots):
    return features_of([by_coordinates(x) for x in matrices], (slots, matrices[0].shape[1]), **DOUBLE)


@pytest.mark.parametrize(("share", "kind"), [(0.0, DenseFeatures), (1.1, SparseFeatures)])
def test_every_client_by_itself_and_zero_in_padding(share, kind, monkeypatch):
    monkeypatch.setattr(features, "DENSE_FROM", share)
    matrices, weights = clients(), torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    x = stored(matrices, 4)
    assert isinstance(x, kind)
    product = x @ weights
    assert product.shape == (2, 4, 5)
    for client, matrix in enumerate(matrices):
        own = torch.from_numpy(matrix) @ weights[client]
        torch.testing.assert_close(product[client, : len(matrix)], own)
    assert (product[1, 2:] == 0).all()
    assert torch.autograd.gradcheck(lambda w: x @ w, weights)


def test_dense_from_half_of_the_entries_padding_included():
    full = [np.ones((4, 3)), np.ones((2, 3))]  # 18 entries
    assert isinstance(stored(full, 6), DenseFeatures)  # of 36
    full[1][0, 0] = 0
    assert isinstance(stored(full, 6), SparseFeatures)
    assert isinstance(stored(full, 4), DenseFeatures)


def test_dense_features_are_stored_as_asked_for():
    x = features_of([by_coordinates(np.ones((2, 2)))], (2, 2), dtype=torch.float32, device=torch.device("cpu"))
    assert isinstance(x, DenseFeatures)
    assert x.stack.dtype == torch.float32
