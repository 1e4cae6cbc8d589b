"""The data set file of the task `node`. Light: importing it imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.artefacts import DatasetArtefact


@dataclass(frozen=True)
class NodeDataset(DatasetArtefact):
    """One graph with node features and classes; n nodes, d features, E directed edges (both directions).

    Attributes:
        x_indptr: int64[n + 1], with the next two the features as a CSR matrix.
        x_indices: int32[nnz], feature numbers, ascending in each row.
        x_data: float32[nnz].
        x_shape: int64[2], (n, d).
        edges: int64[2, E], no self-loops, no duplicates, sorted by (source, target).
        y: int64[n], class of each node.
        node_id: int64[n], the node's place in the canonical order of the whole graph.
        meta: dataset, task, nodes, edges (undirected), features, classes.
    """

    TASK = "node"

    x_indptr: np.ndarray
    x_indices: np.ndarray
    x_data: np.ndarray
    x_shape: np.ndarray
    edges: np.ndarray
    y: np.ndarray
    node_id: np.ndarray

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return int(self.y.size)

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return int(self.meta["classes"])
