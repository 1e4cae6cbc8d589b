"""The clusters of each scheme."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fedbench.datasets.rec.raw import TRAIN
from fedbench.datasets.rec.store import RecDataset
from fedbench.partition.name import PartitionName
from fedbench.partition.rec.cut import Cut, cut_of
from fedbench.partition.rec.kinds import CoClusterScheme, CoLouvainScheme, CoRandomScheme, CoScheme, RecScheme
from fedbench.partition.rec.louvain import louvain_clusters
from fedbench.partition.rec.random import random_clusters
from fedbench.partition.rec.spectral import co_clusters
from fedbench.seeds import generator, integer


def cut_dataset(name: PartitionName, scheme: CoScheme, dataset: RecDataset) -> Cut:
    """Return the clients of a data set; its validation and test pairs have no say.

    Raises:
        DataError: the scheme can't make so many clients of it.
    """
    users, items = dataset.pairs_of(TRAIN)
    labels = _labels(name, scheme, dataset, users, items)
    return cut_of(*labels, users, items, scheme)


def _labels(
    name: PartitionName, scheme: CoScheme, dataset: RecDataset, users: np.ndarray, items: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    shape = (dataset.n_users, dataset.n_items)
    if name.clients == 1:
        return np.zeros(shape[0], dtype=np.int64), np.zeros(shape[1], dtype=np.int64)
    stream = (scheme.scheme, dataset.name, name.clients, name.seed)
    return CLUSTERS[type(scheme)](scheme, Pairs(users, items, shape), name.clients, stream)


def train_matrix(users: np.ndarray, items: np.ndarray, shape: tuple[int, int]) -> sparse.csr_matrix:
    """Return the float64 CSR matrix [users, items] with 1 for each pair."""
    return sparse.csr_matrix((np.ones(users.size), (users, items)), shape)


class Pairs(NamedTuple):
    """Training pairs, users int64[m] and items int64[m], and the numbers of users and items."""

    users: np.ndarray
    items: np.ndarray
    shape: tuple[int, int]


Stream = tuple[str, str, int, int]
Labels = tuple[np.ndarray, np.ndarray]


def _of_co_cluster(scheme: CoClusterScheme, pairs: Pairs, clients: int, stream: Stream) -> Labels:
    return co_clusters(train_matrix(*pairs), clients, scheme, generator(*stream))


def _of_louvain(scheme: CoLouvainScheme, pairs: Pairs, clients: int, stream: Stream) -> Labels:
    return louvain_clusters(*pairs, clients, scheme.resolution, integer(*stream))


def _of_random(_: CoRandomScheme, pairs: Pairs, clients: int, stream: Stream) -> Labels:
    return random_clusters(*pairs.shape, clients, generator(*stream))


CLUSTERS: dict[type[RecScheme], Callable[[Any, Pairs, int, Stream], Labels]] = {
    CoClusterScheme: _of_co_cluster,
    CoLouvainScheme: _of_louvain,
    CoRandomScheme: _of_random,
}
