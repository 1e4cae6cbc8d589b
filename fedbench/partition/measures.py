"""Figures that describe a partition, client by client."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.datasets.node import NodeDataset
from fedbench.partition.cut import kept_per_client, missing_per_client
from fedbench.partition.store import TEST, TRAIN, VAL, Partition


@dataclass(frozen=True)
class ClientMeasures:
    """Measures of K clients and C classes; each array has one entry a client.

    Attributes:
        nodes: int64[K].
        train, val, test: int64[K], nodes of each split.
        kept_edges: int64[K], undirected edges inside the client.
        missing_links: int64[K], undirected edges with one end in the client, which it can't see.
        class_counts: int64[K, C], nodes of each class.
    """

    nodes: np.ndarray
    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    kept_edges: np.ndarray
    missing_links: np.ndarray
    class_counts: np.ndarray

    @property
    def classes_absent(self) -> np.ndarray:
        """Return int64[K], how many classes have no node in the client."""
        return np.asarray((self.class_counts == 0).sum(axis=1))

    @property
    def label_entropy(self) -> np.ndarray:
        """Return float64[K], the entropy of the client's class shares in bits; 0 where there is one class only."""
        return entropy(self.class_counts)

    @property
    def label_distance(self) -> np.ndarray:
        """Return float64[K], the total variation distance of the client's class shares from those of all memberships.

        0: the same mix of classes; 1: no class in common.
        """
        share = self.class_counts / self.nodes[:, None]
        overall = self.class_counts.sum(axis=0) / self.class_counts.sum()
        return np.asarray(np.abs(share - overall).sum(axis=1) / 2)

    def columns(self) -> dict[str, np.ndarray]:
        """Return the measures with one value a client, by name."""
        stored = ("nodes", "train", "val", "test", "kept_edges", "missing_links")
        derived = ("classes_absent", "label_entropy", "label_distance")
        return {name: getattr(self, name) for name in stored + derived}


def entropy(counts: np.ndarray) -> np.ndarray:
    """Return float64[K], the entropy in bits of each row's shares, int64[K, C]; 0 where all is of one class."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(0.0 - (share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1))


def measure(partition: Partition, dataset: NodeDataset) -> ClientMeasures:
    """Return the measures of a partition of ``dataset``."""
    clients, nodes = partition.clients, dataset.nodes
    split = np.zeros((clients, 4), dtype=np.int64)
    np.add.at(split, (partition.client, partition.split), 1)
    classes = np.zeros((clients, dataset.classes), dtype=np.int64)
    np.add.at(classes, (partition.client, dataset.y[partition.node]), 1)
    return ClientMeasures(
        nodes=split.sum(axis=1),
        train=split[:, TRAIN],
        val=split[:, VAL],
        test=split[:, TEST],
        kept_edges=kept_per_client(partition, dataset.edges, nodes),
        missing_links=missing_per_client(partition, dataset.edges, nodes),
        class_counts=classes,
    )


def warnings(measures: ClientMeasures) -> list[str]:
    """Return one sentence a client for each class it lacks and each split it has no node in."""
    found = []
    for client, counts in enumerate(measures.class_counts):
        absent = ", ".join(map(str, np.flatnonzero(counts == 0)))
        empty = [name for name in ("train", "val", "test") if getattr(measures, name)[client] == 0]
        found += [f"client {client} has no node of class {absent}"] if absent else []
        found += [f"client {client} has no {name} nodes" for name in empty]
    return found
