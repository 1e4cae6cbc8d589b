"""A graph data set and a partition as plain arrays, cut into clients' sets of graphs. Needs numpy only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.errors import DataError
from fedbench.files import read_arrays
from fedbench.tasks.files import require_same_dataset
from fedbench.tasks.graph.colours import Rows, distinct, entries_of, summed_rows
from fedbench.tasks.task import Shape

SPLIT_CODES = {"train": 0, "val": 1, "test": 2, "unused": 3}


@dataclass(frozen=True)
class ClientGraphs:
    """One client's graphs; nodes run on from graph to graph.

    Attributes:
        labels: int64[g].
        split: int8[g].
        nodes: int64[g + 1], the nodes of graph i are ``nodes[i]`` to ``nodes[i + 1] - 1``.
        start, neighbours: A + I by rows: node j lists ``neighbours[start[j] : start[j + 1]]``, itself included.
        features: X by rows.
        classes: number of classes.
        extra: float64[n, width], what a method puts beside the nodes' features, or None.
    """

    labels: np.ndarray
    split: np.ndarray
    nodes: np.ndarray
    start: np.ndarray
    neighbours: np.ndarray
    features: Rows
    classes: int
    extra: np.ndarray | None = None

    def of_split(self, split: str) -> np.ndarray:
        """Return the graphs of a split, int64[m]."""
        return np.flatnonzero(self.split == SPLIT_CODES[split])

    @cached_property
    def gathered(self) -> Rows:
        """Return (A + I) X by rows."""
        return summed_rows(self.start, self.neighbours, self.features)

    @cached_property
    def colours(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a representative of each distinct row of (A + I) X, and every node's."""
        return distinct(self.gathered)

    @property
    def coloured(self) -> bool:
        """Tell whether computing on distinct rows is a gain: fewer than half as many as nodes."""
        return 2 * len(self.colours[0]) < self.nodes[-1]

    @cached_property
    def degrees(self) -> np.ndarray:
        """Return the row sums of A + I, int64[n]."""
        return np.diff(self.start)

    @cached_property
    def entries(self) -> np.ndarray:
        """Return where each graph's ``neighbours`` start, int64[g + 1]."""
        return self.start[self.nodes]

    @cached_property
    def within(self) -> np.ndarray:
        """Return ``neighbours`` counted from their graph's first node, int32."""
        return (self.neighbours - np.repeat(self.nodes[:-1], np.diff(self.entries))).astype(np.int32)


@dataclass(frozen=True)
class Chosen:
    """Some of a client's graphs, renumbered: what a batch is made from.

    Attributes:
        labels: int64[b].
        nodes: int64[b + 1], as in `ClientGraphs`.
        rows: int64[m], the chosen nodes' numbers in the client.
        start, neighbours: A + I of the chosen nodes, in their new numbers.
    """

    labels: np.ndarray
    nodes: np.ndarray
    rows: np.ndarray
    start: np.ndarray
    neighbours: np.ndarray


def choose(client: ClientGraphs, graphs: np.ndarray) -> Chosen:
    """Return some graphs of a client, in the given order; edges never leave a graph."""
    rows, nodes = entries_of(client.nodes, graphs)
    entries, of_graph = entries_of(client.entries, graphs)
    shift = np.repeat(nodes[:-1] - client.nodes[graphs], np.diff(of_graph))
    start = np.concatenate([[0], np.cumsum(client.degrees[rows])])
    return Chosen(client.labels[graphs], nodes, rows, start, client.neighbours[entries] + shift)


@dataclass(frozen=True)
class GraphProblem:
    """A graph-classification data set (or group of them) and its partition.

    Args:
        data: arrays of the data set file (``docs/architecture.md``).
        partition: arrays of the partition file.
        about: description of the partition: clients, and each one's features and classes.
    """

    data: Mapping[str, np.ndarray]
    partition: Mapping[str, np.ndarray]
    about: Mapping[str, Any]

    @property
    def clients(self) -> int:
        """Number of clients K."""
        return int(self.about["clients"])

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Widths of every client's data."""
        widths = zip(self.about["features"], self.about["classes"], strict=True)
        return tuple(Shape(int(features), int(classes)) for features, classes in widths)

    @cached_property
    def nodes_per_client(self) -> np.ndarray:
        """Graphs a client, int64[K]."""
        return np.bincount(self.partition["client"], minlength=self.clients)

    @cached_property
    def train_nodes_per_client(self) -> np.ndarray:
        """Training graphs a client, int64[K]."""
        train = self.partition["split"] == SPLIT_CODES["train"]
        return np.bincount(self.partition["client"][train], minlength=self.clients)

    @cached_property
    def client_data(self) -> list[ClientGraphs]:
        """Every client's graphs."""
        return [self._client(client) for client in range(self.clients)]

    @property
    def pooled_shape(self) -> Shape:
        """Widths of the first client, which are those of all where data can be pooled."""
        return self.shapes[0]

    def pooled_data(self) -> ClientGraphs:
        """Refuse: clients' features mean different things.

        Raises:
            DataError: always.
        """
        raise DataError(
            "train one model on all clients' graphs",
            found="data sets with features of their own",
            allowed="no such run",
        )

    def _client(self, client: int) -> ClientGraphs:
        mine = self.partition["client"] == client
        graphs, shape = self.partition["graph"][mine], self.shapes[client]
        rows, nodes = entries_of(self.data["graph_indptr"], graphs)
        entries, x_start = entries_of(self.data["x_indptr"], rows)
        columns, values = self.data["x_indices"][entries].astype(np.int64), self.data["x_data"][entries]
        start, neighbours = self._with_loops(graphs, nodes)
        features = Rows(x_start, columns, values.astype(np.float64), shape.features)
        return ClientGraphs(
            self.data["y"][graphs], self.partition["split"][mine], nodes, start, neighbours, features, shape.classes
        )

    def _with_loops(self, graphs: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A + I of the chosen graphs by rows, in their own numbers, neighbours ascending."""
        places, own = entries_of(self.data["edge_indptr"], graphs)
        shift = np.repeat(nodes[:-1] - self.data["graph_indptr"][graphs], np.diff(own))
        source, target = self.data["edges"][:, places] + shift
        loops = np.arange(nodes[-1])
        source, target = np.concatenate([source, loops]), np.concatenate([target, loops])
        order = np.lexsort((target, source))
        start = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=nodes[-1]))])
        return start, target[order]


def load_graphs(dataset_file: Path, partition_file: Path) -> GraphProblem:
    """Read a data set and a partition.

    Raises:
        DataError: a file is missing or damaged, or the partition was made from another data set.
    """
    data, _ = read_arrays(dataset_file)
    partition, cut = read_arrays(partition_file)
    require_same_dataset(cut, partition_file, dataset_file, "graph")
    return GraphProblem(data, partition, cut)
