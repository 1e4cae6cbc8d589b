"""Sparse times dense through the EmbeddingBag kernel, differentiable any number of times.

On CPU this kernel is 3 to 17 times faster than torch's CSR product for the sizes of a client's graph (see
``docs/benchmarks.md``); on CUDA the same call runs there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class SparseMatrix:
    """A constant CSR matrix [rows, columns] that knows its transpose; ``matrix @ dense`` is differentiable.

    ``indptr`` int32[rows + 1], ``indices`` int32[entries], ``values`` [entries], or None for ones.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor | None
    shape: tuple[int, int]
    _transposed: list[SparseMatrix] = field(default_factory=list, repr=False, compare=False)

    @property
    def numbers(self) -> Tensor:
        """The entries' values, ones included [entries]."""
        if self.values is not None:
            return self.values
        return torch.ones(len(self.indices), device=self.indices.device)

    @property
    def transposed(self) -> SparseMatrix:
        """The transpose (itself, for a matrix declared symmetric)."""
        return self._transposed[0]

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Return the product with ``dense`` [columns, width], shape [rows, width]."""
        product: Tensor = _Product.apply(self, dense)
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor) -> Tensor:
        ctx.matrix = matrix
        dense = dense.detach().contiguous()  # a tensor that asks for gradients takes the kernel's slower path
        return torch.embedding_bag(dense, matrix.indices, matrix.indptr, False, 0, False, matrix.values, True)[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix.transposed @ gradients[0]


def sparse_matrix(
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    shape: tuple[int, int],
    *,
    dtype: torch.dtype,
    device: torch.device,
    symmetric: bool = False,
) -> SparseMatrix:
    """Build a `SparseMatrix` from coordinates (no duplicates); ``symmetric`` saves the transpose's memory."""
    matrix = _compressed(rows, columns, values, shape, dtype, device)
    if symmetric:
        return own_transpose(matrix)
    return paired(matrix, _compressed(columns, rows, values, (shape[1], shape[0]), dtype, device))


def own_transpose(matrix: SparseMatrix) -> SparseMatrix:
    """Let a symmetric matrix know itself as its transpose; return it."""
    matrix._transposed.append(matrix)
    return matrix


def paired(matrix: SparseMatrix, transposed: SparseMatrix) -> SparseMatrix:
    """Let two matrices know each other as transposes; return the first."""
    matrix._transposed.append(transposed)
    transposed._transposed.append(matrix)
    return matrix


def _compressed(
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    shape: tuple[int, int],
    dtype: torch.dtype,
    device: torch.device,
) -> SparseMatrix:
    order = np.lexsort((columns, rows))
    indptr = np.zeros(shape[0] + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
    return SparseMatrix(
        torch.from_numpy(indptr).to(device),
        torch.from_numpy(columns[order].astype(np.int32)).to(device),
        torch.from_numpy(values[order]).to(device=device, dtype=dtype),
        shape,
    )


def from_rows(
    starts: Sequence[np.ndarray],
    columns: Sequence[np.ndarray],
    values: Sequence[np.ndarray | None],
    shape: tuple[int, int],
    *,
    dtype: torch.dtype,
    device: torch.device,
    symmetric: bool = False,
) -> SparseMatrix:
    """Build a block-diagonal `SparseMatrix` from blocks that are given by rows.

    Args:
        starts: of each block, int64[rows + 1]: row i has the entries ``start[i]`` to ``start[i + 1] - 1``.
        columns: of each block, in its own numbers.
        values: of each block, or None for ones (of all blocks, then).
        shape: rows and columns of a block after padding with empty ones.
        dtype: of values.
        device: where the matrix lives.
        symmetric: saves the transpose's memory.
    """
    blocks, (rows, width) = len(starts), shape
    lengths = np.zeros(blocks * rows, dtype=np.int64)
    for place, start in enumerate(starts):
        lengths[place * rows : place * rows + len(start) - 1] = np.diff(start)
    indptr = np.zeros(blocks * rows + 1, dtype=np.int32)
    np.cumsum(lengths, out=indptr[1:])
    indices = np.concatenate([own + place * width for place, own in enumerate(columns)]).astype(np.int32)
    known = [own for own in values if own is not None]
    numbers = np.concatenate(known) if known else None
    size = (blocks * rows, blocks * width)
    matrix = _on(device, dtype, indptr, indices, numbers, size)
    if symmetric:
        return own_transpose(matrix)
    order = _sorting(indices, size[1])
    back = np.zeros(size[1] + 1, dtype=np.int32)
    np.cumsum(np.bincount(indices, minlength=size[1]), out=back[1:])
    row = np.repeat(np.arange(size[0], dtype=np.int32), lengths)[order]
    turned = _on(device, dtype, back, row, None if numbers is None else numbers[order], (size[1], size[0]))
    return paired(matrix, turned)


def _sorting(indices: np.ndarray, width: int) -> np.ndarray:
    """Return the stable order of column numbers; the common case of sorted ones, and small ones, cost little."""
    if bool((indices[1:] >= indices[:-1]).all()):
        return np.arange(len(indices))
    return np.argsort(indices.astype(np.uint16) if width <= 1 << 16 else indices, kind="stable")


def _on(
    device: torch.device,
    dtype: torch.dtype,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray | None,
    shape: tuple[int, int],
) -> SparseMatrix:
    numbers = None if values is None else torch.from_numpy(values).to(device=device, dtype=dtype)
    return SparseMatrix(torch.from_numpy(indptr).to(device), torch.from_numpy(indices).to(device), numbers, shape)
