"""Products with a client's user-item graph: LightGCN's mean over layers, for the rows that a batch needs.

The normalised adjacency of a bipartite graph is [[0, R], [R^T, 0]] with R = D_u^(-1/2) A D_i^(-1/2), so a layer is two
products, R items and R^T users, and no matrix of users plus items is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix, from_rows


def normalised(taken: sparse.csr_matrix) -> np.ndarray:
    """Return 1 / sqrt(d_u d_i) of every entry of a 0-1 matrix, float64; d are its row and column sums."""
    rows, columns = np.diff(taken.indptr), np.bincount(taken.indices, minlength=taken.shape[1])
    return np.asarray((np.repeat(rows, rows) * columns[taken.indices].astype(np.float64)) ** -0.5)


def bipartite(taken: Sequence[sparse.csr_matrix], dtype: torch.dtype, device: torch.device) -> SparseMatrix:
    """Return R of every packed client, block-diagonal [clients * users, clients * items].

    Args:
        taken: 0-1 matrices [users, items] of one shape, the training pairs of each client.
        dtype: of the values.
        device: where it lives.
    """
    return from_rows(
        [each.indptr.astype(np.int64) for each in taken],
        [each.indices.astype(np.int64) for each in taken],
        [normalised(each) for each in taken],
        taken[0].shape,
        dtype=dtype,
        device=device,
    )


def mean_of_layers(matrix: SparseMatrix, layers: int, users: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean of a table of vectors over the layers 0 to ``layers`` (LightGCN, equations 7 and 8).

    Args:
        matrix: R, [users, items].
        layers: K; 0 returns the tables.
        users: [users, d].
        items: [items, d].
    """
    user_sum, item_sum = users, items
    for _ in range(layers):
        users, items = matrix @ items, matrix.transposed @ users
        user_sum, item_sum = user_sum + users, item_sum + items
    return user_sum / (layers + 1), item_sum / (layers + 1)


class Rows(NamedTuple):
    """Some rows of `mean_of_layers` (``users`` [a, d], ``items`` [b, d]) and of the tables themselves."""

    users: Tensor
    items: Tensor
    base_users: Tensor
    base_items: Tensor


def rows_of_mean(
    matrix: SparseMatrix | None, layers: int, rows: tuple[Tensor, Tensor], users: Tensor, items: Tensor
) -> Rows:
    """Return chosen rows of the mean over layers; its gradient costs as many products, and stores no layer.

    Args:
        matrix: R; None for no layers.
        layers: K.
        rows: int64[a] and int64[b], ascending and without repeats: the users and items wanted.
        users: [users, d], the table of layer 0.
        items: [items, d].
    """
    return Rows(*_RowsOfMean.apply(matrix, layers, *rows, users, items))


class _RowsOfMean(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, matrix: SparseMatrix, layers: int, of_users: Tensor, of_items: Tensor, users: Tensor, items: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.graph, ctx.rows, ctx.lengths = (matrix, layers), (of_users, of_items), (len(users), len(items))
        base = users.index_select(0, of_users), items.index_select(0, of_items)
        mean = base[0].clone(), base[1].clone()
        for _ in range(layers):
            users, items = matrix @ items, matrix.transposed @ users
            mean[0].add_(users.index_select(0, of_users))
            mean[1].add_(items.index_select(0, of_items))
        return mean[0].div_(layers + 1), mean[1].div_(layers + 1), *base

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (matrix, layers), (of_users, of_items) = ctx.graph, ctx.rows
        own_users, own_items = gradients[0] / (layers + 1), gradients[1] / (layers + 1)
        users, items = _start(ctx, own_users, own_items)
        for layer in range(layers):  # Horner's rule for the sum over k of A^k g
            if layer:
                users, items = matrix @ items, matrix.transposed @ users
            users.index_add_(0, of_users, own_users)
            items.index_add_(0, of_items, own_items)
        base = (gradients[2], gradients[3]) if layers else (own_users + gradients[2], own_items + gradients[3])
        return None, None, None, None, users.index_add_(0, of_users, base[0]), items.index_add_(0, of_items, base[1])


def _start(ctx: Any, users: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
    """Return A g of a gradient g that is zero but for the batch's rows; zeros where there is no layer."""
    (matrix, layers), (of_users, of_items), lengths = ctx.graph, ctx.rows, ctx.lengths
    if not layers:
        return users.new_zeros(lengths[0], users.shape[1]), items.new_zeros(lengths[1], items.shape[1])
    return _times_rows(matrix, of_items, items), _times_rows(matrix.transposed, of_users, users)


def _times_rows(matrix: SparseMatrix, rows: Tensor, values: Tensor) -> Tensor:
    """Return the product with a table that is zero but for ``rows``, read from a small table that fits the cache."""
    place = torch.full((matrix.shape[1],), len(rows), dtype=torch.int32, device=values.device)
    place[rows] = torch.arange(len(rows), dtype=torch.int32, device=values.device)
    table = torch.cat([values, values.new_zeros(1, values.shape[1])])
    shape = (matrix.shape[0], len(table))
    return SparseMatrix(matrix.indptr, place.index_select(0, matrix.indices), matrix.values, shape) @ table
