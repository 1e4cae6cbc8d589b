"""The data set file of the task `graph`. Light: importing it imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.artefacts import DatasetArtefact


@dataclass(frozen=True)
class GraphDataset(DatasetArtefact):
    """G graphs with node features and a class each; n nodes and E directed edges in all, d features.

    Graphs and nodes are in the raw files' order, on which the splits of the papers depend. Node numbers run on from
    graph to graph. Where features are one-hot node labels, ``x_indices`` is each node's label less the smallest one.

    Attributes:
        x_indptr: int64[n + 1], with the next two the features of all nodes as a CSR matrix.
        x_indices: int32[nnz], feature numbers, ascending in each row.
        x_data: float32[nnz].
        x_shape: int64[2], (n, d).
        edges: int64[2, E], both directions, no self-loops, no duplicates, sorted by (source, target), so by graph.
        graph_indptr: int64[G + 1], the nodes of graph g are ``graph_indptr[g]`` to ``graph_indptr[g + 1] - 1``.
        edge_indptr: int64[G + 1], the edges of graph g, likewise.
        y: int64[G], class of each graph, 0 to C - 1 in the order of the raw labels.
        meta: dataset, task, graphs, nodes, edges (undirected), features, classes.
    """

    TASK = "graph"

    x_indptr: np.ndarray
    x_indices: np.ndarray
    x_data: np.ndarray
    x_shape: np.ndarray
    edges: np.ndarray
    graph_indptr: np.ndarray
    edge_indptr: np.ndarray
    y: np.ndarray

    @property
    def graphs(self) -> int:
        """Return the number of graphs."""
        return int(self.y.size)

    @property
    def nodes(self) -> int:
        """Return the number of nodes of all graphs."""
        return int(self.x_shape[0])

    @property
    def features(self) -> int:
        """Return the number of features of a node."""
        return int(self.x_shape[1])

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return int(self.meta["classes"])
