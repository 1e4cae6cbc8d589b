"""What one client sees: its pairs by its own numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.datasets.rec.raw import TEST, TRAIN, VAL
from fedbench.datasets.rec.store import RecDataset
from fedbench.partition.rec.cut import Cut
from fedbench.partition.rec.store import RecPartition


@dataclass(frozen=True)
class ClientPairs:
    """One client of u users and i items.

    Attributes:
        users: int64[u], ascending, numbers in the data set file.
        items: int64[i], ascending.
        train, val, test: int64[2, m], pairs inside the client: places in ``users`` and in ``items``.
    """

    users: np.ndarray
    items: np.ndarray
    train: np.ndarray
    val: np.ndarray
    test: np.ndarray


def cut_from(partition: RecPartition) -> Cut:
    """Return the partition as a lookup: the client of each user, and the items of each client."""
    user_client = np.empty(partition.user.size, dtype=np.int64)
    user_client[partition.user] = partition.client
    return Cut(user_client, partition.item_client, partition.item)


def client_pairs(partition: RecPartition, dataset: RecDataset, client: int) -> ClientPairs:
    """Return what a client sees. Training pairs are the edges of its graph; the others belong to no graph."""
    users, items = partition.users_of(client), partition.items_of(client)
    cut = cut_from(partition)
    mine = cut.user_client[dataset.users] == client
    mine[mine] = cut.keeps(dataset.users[mine], dataset.items[mine])
    place = np.stack([np.searchsorted(users, dataset.users[mine]), np.searchsorted(items, dataset.items[mine])])
    train, val, test = (place[:, dataset.split[mine] == split] for split in (TRAIN, VAL, TEST))
    return ClientPairs(users, items, train, val, test)
