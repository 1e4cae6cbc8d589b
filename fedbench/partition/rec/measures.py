"""Figures that describe a partition of users and items, client by client."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from fedbench.datasets.rec.raw import TEST, TRAIN, VAL
from fedbench.datasets.rec.store import RecDataset
from fedbench.partition.rec.store import RecPartition
from fedbench.partition.rec.view import cut_from


@dataclass(frozen=True)
class RecMeasures:
    """Measures of K clients; int64[K] each. "Inside": user and item are in the client.

    Attributes:
        users, items: what the client has; its items are the candidates of a ranking.
        train, val, test: pairs inside.
        train_outside, val_outside, test_outside: pairs of its users with items it hasn't.
        shared_items: items that another client has too.
        lone_users: users without a training pair inside.
        lone_items: items without one.
        test_users: users with a test pair inside, over which a ranking is averaged.
    """

    users: np.ndarray
    items: np.ndarray
    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    train_outside: np.ndarray
    val_outside: np.ndarray
    test_outside: np.ndarray
    shared_items: np.ndarray
    lone_users: np.ndarray
    lone_items: np.ndarray
    test_users: np.ndarray

    @property
    def density(self) -> np.ndarray:
        """Return float64[K], training pairs inside over users times items."""
        return np.asarray(self.train / np.maximum(self.users * self.items, 1))

    @property
    def item_degree(self) -> np.ndarray:
        """Return float64[K], mean training pairs of an item."""
        return np.asarray(self.train / np.maximum(self.items, 1))

    def columns(self) -> dict[str, np.ndarray]:
        """Return the measures with one value a client, by name."""
        stored = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**stored, "density": self.density, "item_degree": self.item_degree}


def measure_rec(partition: RecPartition, dataset: RecDataset) -> RecMeasures:
    """Return the measures of a partition of ``dataset``."""
    cut, clients = cut_from(partition), partition.clients
    client = cut.user_client[dataset.users]
    inside = cut.keeps(dataset.users, dataset.items)

    def pairs(split: int, which: np.ndarray) -> np.ndarray:
        return np.bincount(client[which & (dataset.split == split)], minlength=clients)

    def different(of: np.ndarray, size: int, split: int) -> np.ndarray:
        kept = inside & (dataset.split == split)
        return np.bincount(np.unique(client[kept] * size + of[kept]) // size, minlength=clients)

    users = np.bincount(partition.client, minlength=clients)
    items = np.bincount(partition.item_client, minlength=clients)
    shared = np.bincount(partition.item, minlength=dataset.n_items)[partition.item] > 1
    return RecMeasures(
        users=users,
        items=items,
        train=pairs(TRAIN, inside),
        val=pairs(VAL, inside),
        test=pairs(TEST, inside),
        train_outside=pairs(TRAIN, ~inside),
        val_outside=pairs(VAL, ~inside),
        test_outside=pairs(TEST, ~inside),
        shared_items=np.bincount(partition.item_client[shared], minlength=clients),
        lone_users=users - different(dataset.users, dataset.n_users, TRAIN),
        lone_items=items - different(dataset.items, dataset.n_items, TRAIN),
        test_users=different(dataset.users, dataset.n_users, TEST),
    )


def rec_warnings(measures: RecMeasures) -> list[str]:
    """Return one sentence a client for each thing that makes its figures shaky: no test pair, or lone users."""
    found = []
    for client in range(measures.users.size):
        found += [f"client {client} has no test pairs"] if not measures.test[client] else []
        lone, users = measures.lone_users[client], measures.users[client]
        found += [f"client {client}: {lone:,} of {users:,} users keep no training pair"] if 20 * lone > users else []
    return found
