"""The clusters of each scheme."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fedbench.datasets.rec.raw import TRAIN
from fedbench.datasets.rec.store import RecDataset
from fedbench.partition.name import PartitionName
from fedbench.partition.rec.cut import Cut, cut_of
from fedbench.partition.rec.kinds import CoClusterScheme, CoLouvainScheme, CoScheme
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
    shape, clients = (dataset.n_users, dataset.n_items), name.clients
    if clients == 1:
        return np.zeros(shape[0], dtype=np.int64), np.zeros(shape[1], dtype=np.int64)
    stream = (scheme.scheme, dataset.name, clients, name.seed)
    if isinstance(scheme, CoClusterScheme):
        return co_clusters(train_matrix(users, items, shape), clients, scheme, generator(*stream))
    if isinstance(scheme, CoLouvainScheme):
        return louvain_clusters(users, items, shape, clients, scheme.resolution, integer(*stream))
    return random_clusters(*shape, clients, generator(*stream))


def train_matrix(users: np.ndarray, items: np.ndarray, shape: tuple[int, int]) -> sparse.csr_matrix:
    """Return the float64 CSR matrix [users, items] with 1 for each pair."""
    return sparse.csr_matrix((np.ones(users.size), (users, items)), shape)
