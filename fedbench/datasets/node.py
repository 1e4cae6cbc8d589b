"""The data set file of the task `node`. Light: reading one imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.artefacts import read_artefact
from fedbench.files import sha256_of, write_arrays

ARRAYS = ("x_indptr", "x_indices", "x_data", "x_shape", "edges", "y", "node_id")


@dataclass(frozen=True)
class NodeDataset:
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
        digest: sha256 of the file it was read from; empty if it was not read from a file.
    """

    x_indptr: np.ndarray
    x_indices: np.ndarray
    x_data: np.ndarray
    x_shape: np.ndarray
    edges: np.ndarray
    y: np.ndarray
    node_id: np.ndarray
    meta: dict[str, Any]
    digest: str = ""

    @property
    def name(self) -> str:
        """Return the data set's name in the catalogue."""
        return str(self.meta["dataset"])

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return int(self.y.size)

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return int(self.meta["classes"])


def write_dataset(path: Path, dataset: NodeDataset) -> None:
    """Write a data set file; the same content gives the same bytes."""
    write_arrays(path, {name: getattr(dataset, name) for name in ARRAYS}, dataset.meta)


def read_dataset(path: Path) -> NodeDataset:
    """Read a data set file.

    Raises:
        DataError: it is missing, damaged, of another task, or lacks an array.
    """
    arrays, meta = read_artefact(path, ARRAYS, kind="dataset", task="node")
    return NodeDataset(**arrays, meta=meta, digest=sha256_of(path))
