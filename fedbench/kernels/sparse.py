"""Sparse times dense through the EmbeddingBag kernel, differentiable any number of times.

On CPU this kernel is 3 to 17 times faster than torch's CSR product for the sizes of a client's graph (see
``docs/benchmarks.md``); on CUDA the same call runs there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class SparseMatrix:
    """A constant CSR matrix [rows, columns] that knows its transpose; ``matrix @ dense`` is differentiable.

    ``indptr`` int32[rows + 1], ``indices`` int32[entries], ``values`` [entries].
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    shape: tuple[int, int]
    _transposed: list[SparseMatrix] = field(default_factory=list, repr=False, compare=False)

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
        matrix._transposed.append(matrix)
        return matrix
    transposed = _compressed(columns, rows, values, (shape[1], shape[0]), dtype, device)
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
