"""The largest singular triplets of a sparse matrix by a block Krylov space (Musco and Musco, NeurIPS 2015).

Blocks of vectors make the products cheap, and find a value that several components of a graph share as often as it
occurs, up to the block's width. Steps are added until the triplets no longer change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix


@dataclass(frozen=True)
class Triplets:
    """Singular values, descending [k], with left [n, k] and right [m, k] vectors in orthonormal columns."""

    left: Tensor
    values: Tensor
    right: Tensor


def largest_triplets(
    matrix: SparseMatrix, rank: int, random: np.random.Generator, *, tolerance: float = 1e-3, most: int = 40
) -> Triplets:
    """Return the ``rank`` largest singular triplets, or all that the matrix has.

    Args:
        matrix: [n, m], float32 or float64; its short side is at least 1.
        rank: number of triplets.
        random: draws the first block.
        tolerance: the largest ||A v - s u|| that is let pass, relative to the largest value.
        most: steps at most, each half as many products as ``rank``.
    """
    short = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.transposed
    near, values, far = _from_short_side(short, min(rank, short.shape[0]), random, tolerance, most)
    left, right = (near, far) if short is matrix else (far, near)
    return Triplets(left, values, right)


def _from_short_side(
    matrix: SparseMatrix, rank: int, random: np.random.Generator, tolerance: float, most: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return vectors of the short side, values, vectors of the long side."""
    rows, width = matrix.shape[0], max(8, -(-rank // 2))
    basis = _orthonormal(_drawn(rows, min(width, rows), random, matrix))
    block = basis
    for step in range(1, most + 1):
        if basis.shape[1] + block.shape[1] > rows:
            basis = torch.eye(rows, dtype=basis.dtype, device=basis.device)
            break
        block = _orthogonal(matrix @ (matrix.transposed @ block), basis)
        basis = torch.cat([basis, block], dim=1)
        if step % 4 == 0 and basis.shape[1] > 2 * rank:
            found = _rayleigh_ritz(matrix, basis, rank)
            if _residual(matrix, *found) <= tolerance * float(found[1][0]):
                return found
    return _rayleigh_ritz(matrix, basis, rank)


def _drawn(rows: int, width: int, random: np.random.Generator, matrix: SparseMatrix) -> Tensor:
    return torch.from_numpy(random.standard_normal((rows, width))).to(matrix.numbers)


def _orthonormal(block: Tensor) -> Tensor:
    return torch.linalg.qr(block).Q


def _orthogonal(block: Tensor, basis: Tensor) -> Tensor:
    """Return an orthonormal block orthogonal to ``basis``; twice is enough (Kahan, in Parlett 1980)."""
    for _ in range(2):
        block = _orthonormal(block - basis @ (basis.T @ block))
    return block


def _rayleigh_ritz(matrix: SparseMatrix, basis: Tensor, rank: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best triplets that the basis of the short side holds."""
    image = matrix.transposed @ basis
    squares, vectors = torch.linalg.eigh((image.T @ image).double())
    values = squares.flip(0)[:rank].clamp(min=0).sqrt()
    vectors = vectors.flip(1)[:, : len(values)]
    kept = values > 10 * values.max() * torch.finfo(basis.dtype).eps ** 0.5
    turned = vectors[:, kept].to(basis.dtype)
    sizes = values[kept].to(basis.dtype)
    return basis @ turned, sizes, (image @ turned) / sizes


def _residual(matrix: SparseMatrix, near: Tensor, values: Tensor, far: Tensor) -> float:
    return float((matrix @ far - near * values).norm(dim=0).max())
