"""Kernels against plain formulas, and their gradients against finite differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from fedbench.kernels.activation import bias_relu_dropout
from fedbench.kernels.dropout import DropoutStream, client_keys
from fedbench.kernels.linear import stacked_linear
from fedbench.kernels.sparse import SparseMatrix, sparse_matrix

CPU = torch.device("cpu")


def random_sparse(seed: int, rows: int, columns: int) -> tuple[SparseMatrix, torch.Tensor]:
    random = np.random.default_rng(seed)
    dense = np.where(random.random((rows, columns)) < 0.3, random.standard_normal((rows, columns)), 0.0)
    r, c = np.nonzero(dense)
    order = random.permutation(len(r))
    entries = (r[order], c[order], dense[r, c][order])
    return sparse_matrix(*entries, dense.shape, dtype=torch.float64, device=CPU), torch.from_numpy(dense)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 9))
def test_sparse_product_equals_the_dense_one(seed: int, rows: int, columns: int) -> None:
    matrix, dense = random_sparse(seed, rows, columns)
    right = torch.from_numpy(np.random.default_rng(seed).standard_normal((columns, 3)))
    assert torch.allclose(matrix @ right, dense @ right)
    left = torch.from_numpy(np.random.default_rng(seed).standard_normal((rows, 2)))
    assert torch.allclose(matrix.transposed @ left, dense.T @ left)


def test_sparse_product_differentiates_twice() -> None:
    matrix, _ = random_sparse(1, 5, 4)
    right = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x: matrix @ x, right)
    assert gradgradcheck(lambda x: (matrix @ x) ** 2, right)


def test_stacked_linear() -> None:
    x = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(stacked_linear(x, weight)[1], torch.nn.functional.linear(x[1], weight[1]))
    assert gradcheck(stacked_linear, (x, weight))


def test_bias_relu_dropout() -> None:
    x = torch.tensor([[[1.0, -3.0], [0.5, 2.0]]], dtype=torch.float64, requires_grad=True)
    bias = torch.tensor([[1.0, 1.0]], dtype=torch.float64, requires_grad=True)
    keep = torch.tensor([[[1, 1], [0, 1]]], dtype=torch.uint8)
    assert bias_relu_dropout(x, bias, keep, 2.0).tolist() == [[[4.0, 0.0], [0.0, 6.0]]]
    assert gradcheck(lambda a, b: bias_relu_dropout(a, b, keep, 2.0), (x, bias))


def stream(seeds: tuple[int, ...], sizes: tuple[int, ...], slots: int, probability: float, round: int) -> DropoutStream:
    keys = [key for seed in seeds for key in client_keys(seed, range(len(sizes)))]
    return DropoutStream(keys, sizes * len(seeds), slots, probability, round, [0] * len(keys), CPU)


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.7])
def test_dropout_drops_the_stated_share(probability: float) -> None:
    kept = stream((0,), (4000,), 4000, probability, 1).keep(1, 32)
    assert kept is not None
    assert abs(float(kept.double().mean()) - (1 - probability)) < 0.005


def test_dropout_does_not_depend_on_what_it_is_packed_with() -> None:
    together = stream((0, 1, 2), (5, 9), 9, 0.5, 7).keep(2, 8)
    alone = stream((2,), (5, 9), 12, 0.5, 7).keep(2, 8)
    assert together is not None and alone is not None
    assert torch.equal(together[4:, :9], alone[:, :9])
    assert not bool(alone[:, 9:].any())


def test_dropout_differs_by_client_round_step_and_layer() -> None:
    streams = [replace(stream((0,), (64, 64), 64, 0.5, r), steps=[step, step]) for r in (1, 2) for step in (0, 1)]
    masks = [drawn.keep(layer, 16) for drawn in streams for layer in (1, 2)]
    rows = [tuple(mask[c].flatten().tolist()) for mask in masks if mask is not None for c in (0, 1)]
    assert len(set(rows)) == len(rows) == 16
    assert stream((0,), (3,), 3, 0.0, 1).keep(1, 4) is None
