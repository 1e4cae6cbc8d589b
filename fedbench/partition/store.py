"""The partition file of the task `node`. Light: importing it imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.artefacts import PartitionArtefact

TRAIN, VAL, TEST, UNUSED = range(4)
SPLIT_NAMES = ("train", "val", "test", "unused")


@dataclass(frozen=True)
class Partition(PartitionArtefact):
    """Who has which node, and what for; m memberships, sorted by (client, node).

    Attributes:
        client: int64[m], 0 .. clients - 1.
        node: int64[m], position in the data set file.
        split: int8[m], 0 train, 1 validation, 2 test, 3 unused. One entry has one split, so masks are disjoint.
        meta: dataset, dataset_digest, scheme, clients, seed, settings, kept_edges and cut_edges (undirected).
    """

    TASK = "node"

    client: np.ndarray
    node: np.ndarray
    split: np.ndarray

    def nodes_of(self, client: int, split: int | None = None) -> np.ndarray:
        """Return int64[k], ascending: a client's nodes, or those of one split."""
        chosen = self.client == client
        return self.node[chosen if split is None else chosen & (self.split == split)]
