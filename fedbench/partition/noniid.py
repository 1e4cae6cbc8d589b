"""How unlike the clients of a partition are: `xi = JSD + MMD` (FedAux, Tables 2 and 5), by named readings of it.

The paper prints no formula beyond the sum; `fedbench.configuration.table_parts.Reading` names what it leaves open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from scipy import sparse

from fedbench.configuration.table_parts import FeatureTerm, LabelTerm, Reading
from fedbench.datasets.node import NodeDataset
from fedbench.partition.noniid_features import gamma_of, kernel_sums, linear_sums, mean_discrepancy
from fedbench.partition.noniid_labels import mean_divergence
from fedbench.partition.store import Partition
from fedbench.seeds import generator


class Differences:
    """Readings of several partitions of one data set.

    The kernel between all nodes is computed once for all partitions and for all readings that share it.
    """

    def __init__(self, partitions: Sequence[Partition], dataset: NodeDataset) -> None:
        self._partitions, self._dataset = partitions, dataset
        self._sums: dict[FeatureTerm, tuple[np.ndarray, np.ndarray]] = {}

    def read(self, reading: Reading) -> list[float]:
        """Return one figure a partition: the sum of the reading's terms."""
        terms = [self._labels(reading.labels)] if reading.labels else []
        terms += [self._features(reading.features)] if reading.features else []
        return [float(sum(parts)) for parts in zip(*terms, strict=True)] or [0.0] * len(self._partitions)

    def _labels(self, term: LabelTerm) -> list[float]:
        return [mean_divergence(_class_counts(partition, self._dataset), term) for partition in self._partitions]

    def _features(self, term: FeatureTerm) -> list[float]:
        key = term.model_copy(update={"squared": True, "against": "pairs"})
        if key not in self._sums:
            self._sums[key] = self._kernel_sums(key)
        sums, sizes = self._sums[key]
        ends = np.cumsum([partition.clients for partition in self._partitions])
        own = [slice(end - partition.clients, end) for end, partition in zip(ends, self._partitions, strict=True)]
        return [mean_discrepancy(sums[part, part], sizes[part], term) for part in own]

    def _kernel_sums(self, term: FeatureTerm) -> tuple[np.ndarray, np.ndarray]:
        """Return the kernel's sums by pair of clients, and the clients' nodes; all partitions' clients in a row."""
        members = _members(self._partitions, self._dataset, term.most_nodes)
        sizes = np.asarray(members.sum(axis=1)).ravel()
        if term.kernel == "linear":
            return linear_sums(self._x, members), sizes
        drawn = generator("noniid median", self._dataset.name)
        return kernel_sums(self._x, members, gamma_of(self._x, term, drawn)), sizes

    @cached_property
    def _x(self) -> sparse.csr_matrix:
        data = self._dataset
        return sparse.csr_matrix((data.x_data, data.x_indices, data.x_indptr), shape=tuple(data.x_shape))


def read_all(
    partitions: Sequence[Partition], dataset: NodeDataset, readings: Iterable[Reading]
) -> dict[str, list[float]]:
    """Return every reading of partitions of one data set: by its name, one figure a partition."""
    differences = Differences(partitions, dataset)
    return {reading.name: differences.read(reading) for reading in readings}


def _class_counts(partition: Partition, dataset: NodeDataset) -> np.ndarray:
    """Return int64[K, C], the nodes of each class by client."""
    counts = np.zeros((partition.clients, dataset.classes), dtype=np.int64)
    np.add.at(counts, (partition.client, dataset.y[partition.node]), 1)
    return counts


def _members(partitions: Sequence[Partition], dataset: NodeDataset, most: int | None) -> sparse.csr_matrix:
    """Return float64[clients of all partitions, n]: ones for a client's nodes, at most ``most`` random ones of them."""
    nodes = [partition.nodes_of(client) for partition in partitions for client in range(partition.clients)]
    if most is not None:
        nodes = [_some(mine, most, dataset.name, place) for place, mine in enumerate(nodes)]
    client = np.repeat(np.arange(len(nodes)), [len(mine) for mine in nodes])
    ones = np.ones(len(client))
    return sparse.csr_matrix((ones, (client, np.concatenate(nodes))), shape=(len(nodes), dataset.nodes))


def _some(nodes: np.ndarray, most: int, dataset: str, place: int) -> np.ndarray:
    if len(nodes) <= most:
        return nodes
    return np.sort(generator("noniid nodes", dataset, place).choice(nodes, most, replace=False))
