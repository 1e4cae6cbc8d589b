"""The largest singular triplets of a sparse matrix, never made dense."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import svds

SMALL = 256  # up to so many rows or columns, all eigenvalues of A A^T are found at once

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]  # left [n, k], values [k], right [m, k]


@dataclass(frozen=True)
class Svd:
    """k singular triplets of an [n, m] matrix, largest first; the largest entry of each left vector is positive.

    Attributes:
        left: [n, k], orthonormal columns, of the matrix's type, as are the next two.
        values: [k], above 0.
        right: [m, k].
    """

    left: np.ndarray
    values: np.ndarray
    right: np.ndarray


def truncated_svd(matrix: sparse.csr_matrix, rank: int, draw: np.random.Generator) -> Svd:
    """Return the ``rank`` largest singular triplets, or fewer if the matrix has fewer that aren't 0.

    Each connected component of the bipartite graph is treated alone, by ARPACK (Lehoucq, Sorensen, Yang 1998) through
    SciPy, or exactly where it is small. A Krylov method on the whole would find too few copies of a value that several
    components share, such as the 1 of a normalised graph. Works in the matrix's own type: float32 takes half the time
    of float64, to residuals of 1e-6 in place of 1e-14.

    Args:
        matrix: float CSR [n, m].
        rank: number of triplets.
        draw: gives the start vectors, so that the same seed gives the same bits.
    """
    parts = [(rows, cols, *_triplets(matrix[rows][:, cols], rank, draw)) for rows, cols in _components(matrix)]
    found = [
        (values[place], part, place) for part, (_, _, _, values, _) in enumerate(parts) for place in range(len(values))
    ]
    found = sorted(found, key=lambda one: (-one[0], one[1]))[:rank]
    left, right = (np.zeros((size, len(found)), dtype=matrix.dtype) for size in matrix.shape)
    for column, (_, part, place) in enumerate(found):
        rows, cols, near, _, far = parts[part]
        left[rows, column], right[cols, column] = near[:, place], far[:, place]
    return _signed(left, np.array([value for value, _, _ in found], dtype=matrix.dtype), right)


def residual(matrix: sparse.csr_matrix, svd: Svd) -> float:
    """Return the largest distance of A v from s u and of A^T u from s v, over the triplets (s, u, v)."""
    right = np.linalg.norm(matrix @ svd.right - svd.left * svd.values, axis=0)
    left = np.linalg.norm(matrix.T @ svd.left - svd.right * svd.values, axis=0)
    return float(max(right.max(initial=0), left.max(initial=0)))


def _components(matrix: sparse.csr_matrix) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows and columns, each ascending, of every connected component that has an entry."""
    _, label = connected_components(sparse.block_array([[None, matrix], [matrix.T, None]]), directed=False)
    order = np.argsort(label, kind="stable")
    for nodes in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        rows, cols = nodes[nodes < matrix.shape[0]], nodes[nodes >= matrix.shape[0]] - matrix.shape[0]
        if rows.size and cols.size:
            yield rows, cols


def _triplets(matrix: sparse.csr_matrix, rank: int, draw: np.random.Generator) -> Triplets:
    short = min(matrix.shape)
    if short <= max(SMALL, 2 * rank):
        return _exact(matrix, rank)
    left, values, right = svds(matrix, rank, v0=draw.standard_normal(short).astype(matrix.dtype))
    kept = values > _least(values, matrix.dtype)
    return left[:, kept], values[kept], right[kept].T


def _exact(matrix: sparse.csr_matrix, rank: int) -> Triplets:
    """Return the triplets of a matrix with a small side, from the eigenvectors of that side's square matrix."""
    tall = matrix.shape[0] > matrix.shape[1]
    short = sparse.csr_matrix(matrix.T if tall else matrix, dtype=np.float64)
    square, vectors = np.linalg.eigh((short @ short.T).toarray())
    values = np.sqrt(np.maximum(square[::-1][:rank], 0))
    kept = values > _least(values, matrix.dtype)
    near, values = vectors[:, ::-1][:, :rank][:, kept], values[kept]
    far = (short.T @ near) / values
    return (far, values, near) if tall else (near, values, far)


def _least(values: np.ndarray, dtype: np.dtype) -> float:
    """Return what a singular value must exceed to be told from 0: they come from A A^T, in half the digits."""
    return float(10 * np.sqrt(np.finfo(dtype).eps) * values.max(initial=0))


def _signed(left: np.ndarray, values: np.ndarray, right: np.ndarray) -> Svd:
    peak = np.abs(left).argmax(axis=0) if values.size else np.zeros(0, dtype=np.int64)
    sign = np.where(left[peak, np.arange(values.size)] < 0, -1, 1).astype(left.dtype)
    return Svd(left * sign, values, right * sign)
