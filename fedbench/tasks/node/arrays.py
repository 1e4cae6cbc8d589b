"""A data set and a partition of the node task as plain arrays, cut into client graphs. Needs numpy only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from fedbench.errors import DataError
from fedbench.files import read_arrays
from fedbench.tasks.files import require_same_dataset
from fedbench.tasks.task import Shape

SPLIT_CODES = {"train": 0, "val": 1, "test": 2, "unused": 3}


@dataclass(frozen=True)
class ClientGraph:
    """One client's subgraph. Nodes are numbered 0 .. size-1.

    ``owner`` int64[size] is the client a node is evaluated for: the client itself, except in a pooled graph.
    """

    labels: np.ndarray
    split: np.ndarray
    owner: np.ndarray
    edges: np.ndarray
    feature_rows: np.ndarray
    feature_columns: np.ndarray
    feature_values: np.ndarray

    @property
    def size(self) -> int:
        """Nodes."""
        return len(self.labels)

    def of_split(self, split: str) -> np.ndarray:
        """Return the nodes of a split, int64[m]."""
        return np.flatnonzero(self.split == SPLIT_CODES[split])


@dataclass(frozen=True)
class Entries:
    """A sparse matrix [size, size] by coordinates; ``symmetric`` if it is its own transpose."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    symmetric: bool


def normalised_adjacency(graph: ClientGraph) -> Entries:
    """Return S = D^-1/2 (A + I) D^-1/2, D being the degrees with self-loops."""
    own = np.arange(graph.size)
    rows, columns = np.concatenate([graph.edges[0], own]), np.concatenate([graph.edges[1], own])
    scale = 1.0 / np.sqrt(np.bincount(rows, minlength=graph.size))
    return Entries(rows, columns, scale[rows] * scale[columns], symmetric=True)


def neighbour_mean(graph: ClientGraph) -> Entries:
    """Return D^-1 A; a node without neighbours has an empty row."""
    rows, columns = graph.edges
    degrees = np.bincount(rows, minlength=graph.size)
    return Entries(rows, columns, 1.0 / degrees[rows], symmetric=False)


PROPAGATIONS: dict[str, Callable[[ClientGraph], Entries]] = {"gcn": normalised_adjacency, "sage": neighbour_mean}
"""What a backbone's layers multiply with."""


@dataclass(frozen=True)
class NodeProblem:
    """A node-classification data set and its partition.

    Args:
        data: arrays of the data set file (``docs/architecture.md``).
        partition: arrays of the partition file.
        clients: number of clients K.
        classes: number of classes.
    """

    data: Mapping[str, np.ndarray]
    partition: Mapping[str, np.ndarray]
    clients: int
    classes: int

    @property
    def width(self) -> int:
        """Feature width."""
        return int(self.data["x_shape"][1])

    @cached_property
    def nodes_per_client(self) -> np.ndarray:
        """int64[K]."""
        return np.bincount(self.partition["client"], minlength=self.clients)

    @cached_property
    def train_nodes_per_client(self) -> np.ndarray:
        """int64[K]."""
        train = self.partition["split"] == SPLIT_CODES["train"]
        return np.bincount(self.partition["client"][train], minlength=self.clients)

    def client_graph(self, client: int) -> ClientGraph:
        """Return a client's induced subgraph; edges to other clients are dropped."""
        mine = self.partition["client"] == client
        nodes = self.partition["node"][mine]
        return self._subgraph(nodes, self.partition["split"][mine], np.full(len(nodes), client))

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Widths of every client's data: all alike."""
        return (Shape(self.width, self.classes),) * self.clients

    @cached_property
    def client_data(self) -> list[ClientGraph]:
        """Every client's induced subgraph."""
        return [self.client_graph(client) for client in range(self.clients)]

    @property
    def pooled_shape(self) -> Shape:
        """Widths of the first client, which are those of all where data can be pooled."""
        return self.shapes[0]

    def pooled_data(self) -> ClientGraph:
        """Return the whole graph."""
        return self.whole_graph()

    def whole_graph(self) -> ClientGraph:
        """Return the whole graph as one client; every node is evaluated for the client that owns it.

        Raises:
            DataError: a node belongs to several clients, so that it has no single owner.
        """
        nodes, order = self.partition["node"], np.argsort(self.partition["node"], kind="stable")
        if len(np.unique(nodes)) != len(nodes):
            raise DataError(
                "train on the whole graph", found="nodes in several clients", allowed="a disjoint partition"
            )
        members = (nodes[order], self.partition["split"][order], self.partition["client"][order])
        return self._subgraph(*members)

    def _subgraph(self, nodes: np.ndarray, split: np.ndarray, owner: np.ndarray) -> ClientGraph:
        local = np.full(len(self.data["y"]), -1, dtype=np.int64)
        local[nodes] = np.arange(len(nodes))
        edges = local[self.data["edges"]]
        start, stop = self.data["x_indptr"][nodes], self.data["x_indptr"][nodes + 1]
        entries = _ranges(start, stop)
        return ClientGraph(
            labels=self.data["y"][nodes],
            split=split,
            owner=owner.astype(np.int64),
            edges=edges[:, (edges >= 0).all(0)],
            feature_rows=np.repeat(np.arange(len(nodes)), stop - start),
            feature_columns=self.data["x_indices"][entries].astype(np.int64),
            feature_values=self.data["x_data"][entries],
        )


def _ranges(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Return the concatenation of ``range(start[i], stop[i])``."""
    lengths = stop - start
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(start - before, lengths)


def offsets(parts: Sequence[np.ndarray], step: int) -> np.ndarray:
    """Concatenate ``parts``, the i-th shifted by ``i * step``."""
    return np.concatenate([part + i * step for i, part in enumerate(parts)])


def load_problem(dataset_file: Path, partition_file: Path) -> NodeProblem:
    """Read a data set and a partition.

    Raises:
        DataError: a file is missing or damaged, or the partition was made from another data set.
    """
    data, about = read_arrays(dataset_file)
    partition, cut = read_arrays(partition_file)
    require_same_dataset(cut, partition_file, dataset_file, "node")
    return NodeProblem(data, partition, int(cut["clients"]), int(about["classes"]))
