"""The partition file of the task `graph`. Light: reading one imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.artefacts import read_artefact
from fedbench.files import sha256_of, write_arrays

ARRAYS = ("client", "graph", "split")
TRAIN, VAL, TEST = range(3)
SPLIT_NAMES = ("train", "val", "test")


@dataclass(frozen=True)
class GraphPartition:
    """Who has which graph, and what for; each of G graphs once, sorted by (client, graph).

    Attributes:
        client: int64[G], 0 .. clients - 1.
        graph: int64[G], number in the data set file.
        split: int8[G], 0 train, 1 validation, 2 test.
        meta: dataset, dataset_digest, task, scheme, clients, seed, settings; of each client: member (name of its data
            set), features, classes, and its graphs in train, val and test.
        digest: sha256 of the file it was read from; empty if it was not read from a file.
    """

    client: np.ndarray
    graph: np.ndarray
    split: np.ndarray
    meta: dict[str, Any]
    digest: str = ""

    @property
    def clients(self) -> int:
        """Return the number of clients."""
        return int(self.meta["clients"])

    def graphs_of(self, client: int, split: int | None = None) -> np.ndarray:
        """Return int64[k], ascending: a client's graphs, or those of one split."""
        chosen = self.client == client
        return self.graph[chosen if split is None else chosen & (self.split == split)]


def write_graph_partition(path: Path, partition: GraphPartition) -> None:
    """Write a partition file."""
    write_arrays(path, {name: getattr(partition, name) for name in ARRAYS}, partition.meta)


def read_graph_partition(path: Path) -> GraphPartition:
    """Read a partition file.

    Raises:
        DataError: it is missing, damaged, of another task, or lacks an array.
    """
    arrays, meta = read_artefact(path, ARRAYS, kind="partition", task="graph")
    return GraphPartition(**arrays, meta=meta, digest=sha256_of(path))
