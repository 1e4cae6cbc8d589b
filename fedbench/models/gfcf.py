"""GF-CF: a graph filter in place of training (Shen et al., How powerful is graph convolution for recommendation?).

A user's row r of training pairs is filtered on the item graph R~^T R~, R~ = D_u^(-1/2) R D_i^(-1/2):

    s = r R~^T R~ + alpha r D_i^(-1/2) V V^T D_i^(1/2)

a linear low-pass filter, and an ideal one that keeps the k right singular vectors V of the largest singular values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from fedbench import seeds as streams
from fedbench.kernels.bipartite import bipartite
from fedbench.kernels.krylov import largest_triplets
from fedbench.kernels.sparse import SparseMatrix, from_rows
from fedbench.models.parameters import Parameters
from fedbench.models.popularity import Untrained
from fedbench.models.ranking import RecBlock, Scorer


@dataclass(frozen=True)
class GraphFilter(Untrained):
    """Scores by GF-CF's filters.

    Args:
        vectors: k; 0 leaves out the ideal filter. A client with fewer singular values keeps all.
        alpha: weight of the ideal filter.
    """

    vectors: int
    alpha: float

    def scorers(self, parameters: Parameters, block: RecBlock) -> list[Scorer]:
        """Return each client's filtered rows."""
        return [self._scorer(taken, block.graph.numbers) for taken in block.taken]

    def _scorer(self, taken: sparse.csr_matrix, like: Tensor) -> Scorer:
        matrix = bipartite([taken], like.dtype, like.device)
        ideal = None
        if self.vectors:
            random = streams.generator("gfcf", *taken.shape, taken.nnz)
            right = largest_triplets(matrix, self.vectors, random).right
            degree = torch.from_numpy(np.bincount(taken.indices, minlength=taken.shape[1])).to(like)
            into, back = (_power(degree, exponent)[:, None] * right for exponent in (-0.5, 0.5))
            ideal = _rows_of(taken, like) @ into, self.alpha * back
        return Filtered(taken, matrix, ideal)


@dataclass(frozen=True)
class Filtered:
    """One client's filter: ``taken`` R, ``matrix`` R~, ``ideal`` R D_i^(-1/2) V [users, k] and alpha D_i^(1/2) V."""

    taken: sparse.csr_matrix
    matrix: SparseMatrix
    ideal: tuple[Tensor, Tensor] | None

    def scores(self, users: Tensor) -> Tensor:
        """Return the scores of all items, [len(users), items]."""
        rows = self.taken[users.cpu().numpy()]
        some = torch.zeros(self.taken.shape[1], len(users), dtype=self.matrix.numbers.dtype)
        some[rows.indices, np.repeat(np.arange(len(users)), np.diff(rows.indptr))] = 1.0
        linear = (self.matrix.transposed @ (self.matrix @ some.to(users.device))).T
        if self.ideal is None:
            return linear.contiguous()
        return torch.addmm(linear, self.ideal[0][users], self.ideal[1].T)


def _rows_of(taken: sparse.csr_matrix, like: Tensor) -> SparseMatrix:
    start, columns = taken.indptr.astype(np.int64), taken.indices.astype(np.int64)
    return from_rows([start], [columns], [None], taken.shape, dtype=like.dtype, device=like.device)


def _power(degree: Tensor, exponent: float) -> Tensor:
    """Return d^exponent, 0 for 0."""
    return torch.where(degree > 0, degree.clamp(min=1) ** exponent, torch.zeros_like(degree))
