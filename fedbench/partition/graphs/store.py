"""The partition file of the task `graph`. Light: importing it imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.artefacts import PartitionArtefact

TRAIN, VAL, TEST = range(3)
SPLIT_NAMES = ("train", "val", "test")


@dataclass(frozen=True)
class GraphPartition(PartitionArtefact):
    """Who has which graph, and what for; each of G graphs once, sorted by (client, graph).

    Attributes:
        client: int64[G], 0 .. clients - 1.
        graph: int64[G], number in the data set file.
        split: int8[G], 0 train, 1 validation, 2 test.
        meta: dataset, dataset_digest, task, scheme, clients, seed, settings; of each client: member (name of its data
            set), features, classes, and its graphs in train, val and test.
    """

    TASK = "graph"

    client: np.ndarray
    graph: np.ndarray
    split: np.ndarray

    def graphs_of(self, client: int, split: int | None = None) -> np.ndarray:
        """Return int64[k], ascending: a client's graphs, or those of one split."""
        chosen = self.client == client
        return self.graph[chosen if split is None else chosen & (self.split == split)]
