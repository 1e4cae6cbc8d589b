"""Figures that describe a partition of graphs, client by client."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from fedbench.datasets.graph import GraphDataset
from fedbench.partition.graphs.store import TEST, TRAIN, VAL, GraphPartition
from fedbench.partition.measures import entropy

FEW = 20  # test graphs: one of them is then five points of accuracy


@dataclass(frozen=True)
class GraphMeasures:
    """Measures of K clients.

    Attributes:
        graphs, train, val, test: int64[K], numbers of graphs.
        nodes, edges: int64[K], of all its graphs; edges undirected.
        edgeless: int64[K], graphs without an edge.
        label_entropy: float64[K], of its graphs' classes, in bits.
        majority_test: float64[K], share of test graphs of the class most frequent in train (the lowest of equals): the
            accuracy of a constant answer.
        class_counts: int64[K, C], graphs of each class; classes of different data sets have nothing in common.
    """

    graphs: np.ndarray
    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    nodes: np.ndarray
    edges: np.ndarray
    edgeless: np.ndarray
    label_entropy: np.ndarray
    majority_test: np.ndarray
    class_counts: np.ndarray

    def columns(self) -> dict[str, np.ndarray]:
        """Return the measures with one value a client, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "class_counts"}


def measure_graphs(partition: GraphPartition, dataset: GraphDataset) -> GraphMeasures:
    """Return the measures of a partition of ``dataset``."""
    client, graph = partition.client, partition.graph
    edges = np.diff(dataset.edge_indptr)[graph] // 2

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(client, weights=values, minlength=partition.clients).astype(np.int64)

    of_split = [_by_class(partition, dataset, split) for split in (TRAIN, VAL, TEST)]
    train, _, test = of_split
    counts = sum(of_split, np.zeros_like(train))
    constant = test[np.arange(partition.clients), train.argmax(axis=1)]
    return GraphMeasures(
        graphs=counts.sum(axis=1),
        train=train.sum(axis=1),
        val=of_split[VAL].sum(axis=1),
        test=test.sum(axis=1),
        nodes=total(np.diff(dataset.graph_indptr)[graph]),
        edges=total(edges),
        edgeless=total(edges == 0),
        label_entropy=entropy(counts),
        majority_test=constant / test.sum(axis=1),
        class_counts=counts,
    )


def _by_class(partition: GraphPartition, dataset: GraphDataset, split: int) -> np.ndarray:
    """Return int64[K, C], each client's graphs of one split by class."""
    chosen = partition.split == split
    count = np.zeros((partition.clients, dataset.classes), dtype=np.int64)
    np.add.at(count, (partition.client[chosen], dataset.y[partition.graph[chosen]]), 1)
    return count


def graph_warnings(measures: GraphMeasures) -> list[str]:
    """Return one sentence a client whose test set is so small that one graph moves its accuracy by five points."""
    sizes = enumerate(measures.test.tolist())
    return [
        f"client {client}: {size} test graphs, one is {100 / size:.1f} points" for client, size in sizes if size < FEW
    ]
