"""A client's features and graph as sparse matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix, sparse_matrix
from fedbench.tasks.node.arrays import ClientGraph


@dataclass(frozen=True)
class Features:
    """Feature rows x_u [nodes, width], sparse, and their squared norms ||x_u||^2 [nodes]."""

    matrix: SparseMatrix
    squares: Tensor

    def entries(self, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the stored entries of some rows: place in ``nodes``, column and value, each [entries]."""
        start = self.matrix.indptr.long()[nodes]
        length = self.matrix.indptr.long()[nodes + 1] - start
        place = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), length)
        before = torch.cumsum(length, 0) - length
        entry = torch.arange(len(place), device=nodes.device) + (start - before)[place]
        return place, self.matrix.indices[entry].long(), self.matrix.numbers[entry]


def features(
    graph: ClientGraph, width: int, dtype: torch.dtype, device: torch.device, nodes: np.ndarray | None = None
) -> Features:
    """Return the features of a graph, or of some of its nodes (int64, ascending)."""
    chosen = np.arange(graph.size) if nodes is None else nodes
    place = np.full(graph.size, -1)
    place[chosen] = np.arange(len(chosen))
    rows = place[graph.feature_rows]
    present = rows >= 0
    coordinates = rows[present], graph.feature_columns[present], graph.feature_values[present]
    matrix = sparse_matrix(*coordinates, (len(chosen), width), dtype=dtype, device=device)
    owner = torch.from_numpy(np.sort(coordinates[0])).to(device)
    squares = torch.zeros(len(chosen), dtype=dtype, device=device).index_add_(0, owner, matrix.numbers.square())
    return Features(matrix, squares)


def row_normalised(edges: np.ndarray, nodes: int, dtype: torch.dtype, device: torch.device) -> SparseMatrix:
    """Return D^-1 (A + I), D being the degrees with self-loops."""
    rows = np.concatenate([edges[0], np.arange(nodes)])
    columns = np.concatenate([edges[1], np.arange(nodes)])
    values = 1.0 / np.bincount(rows, minlength=nodes)[rows]
    return sparse_matrix(rows, columns, values, (nodes, nodes), dtype=dtype, device=device)


def attach(edges: np.ndarray, nodes: int, owners: np.ndarray) -> np.ndarray:
    """Return edges with generated nodes ``nodes``, ``nodes + 1``, ... joined to ``owners``, in both directions."""
    generated = nodes + np.arange(len(owners))
    return np.concatenate([edges, np.stack([owners, generated]), np.stack([generated, owners])], axis=1)
