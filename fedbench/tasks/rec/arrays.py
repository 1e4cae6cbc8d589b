"""A user-item data set and a partition as plain arrays, cut into clients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from fedbench.datasets.rec.raw import TEST, TRAIN, VAL
from fedbench.datasets.rec.store import RecDataset
from fedbench.partition.rec.store import RecPartition
from fedbench.partition.rec.view import client_pairs
from fedbench.tasks.files import require_same_dataset
from fedbench.tasks.rec.negatives import Negatives
from fedbench.tasks.rec.query import Query, query_of
from fedbench.tasks.task import Shape

Group = tuple[np.ndarray, np.ndarray]
"""Users int64[u] and items int64[i] that are ranked together, ascending."""


@dataclass(frozen=True)
class ClientPairs:
    """One client's pairs, by its own numbers.

    Attributes:
        users, items: how many it has.
        train, val, test: int64[2, m], sorted by (user, item).
        groups: who is ranked among which items; for a client, all of its own.
        item_ids: its items' numbers in the data set file.
        asked: each user's test pairs in the data set file, int64[users], with items that the client hasn't too; None:
            it has them all.
    """

    users: int
    items: int
    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    groups: tuple[Group, ...]
    item_ids: np.ndarray
    asked: np.ndarray | None = None

    @cached_property
    def taken(self) -> sparse.csr_matrix:
        """Training pairs, 0-1 [users, items]."""
        start = np.searchsorted(self.train[0], np.arange(self.users + 1))
        ones = np.ones(self.train.shape[1], dtype=np.float32)
        return sparse.csr_matrix((ones, self.train[1], start), shape=(self.users, self.items))

    @cached_property
    def negatives(self) -> Negatives:
        """Items that users haven't taken."""
        return Negatives(self.train, self.users, self.items)

    @cached_property
    def learnable(self) -> np.ndarray:
        """Training pairs that have a negative, int64[m]: users who took all items teach no ranking."""
        return np.flatnonzero(self.negatives.free[self.train[0]] > 0)

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """What is ranked, for each group."""
        pairs = {"train": self.train, "val": self.val, "test": self.test}
        return tuple(query_of(pairs, *group, self.items) for group in self.groups)

    @cached_property
    def whole_queries(self) -> tuple[Query, ...]:
        """The same users among all items that the model knows; the same query where these are its candidates."""
        pairs, everything = {"train": self.train, "val": self.val, "test": self.test}, np.arange(self.items)
        return tuple(
            query if query.items is None else query_of(pairs, users, everything, self.items)
            for query, (users, _) in zip(self.queries, self.groups, strict=True)
        )

    @cached_property
    def test_pairs(self) -> np.ndarray:
        """Each user's test pairs, int64[users], those with items that the client hasn't included."""
        return np.bincount(self.test[0], minlength=self.users) if self.asked is None else self.asked


@dataclass(frozen=True)
class RecProblem:
    """A user-item data set and its partition. Pairs of a user with an item that its client hasn't are left out."""

    dataset: RecDataset
    partition: RecPartition

    @property
    def clients(self) -> int:
        """Number of clients K."""
        return self.partition.clients

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Users and items of every client."""
        return tuple(Shape(client.users, client.items) for client in self.client_data)

    @property
    def nodes_per_client(self) -> np.ndarray:
        """Pairs a client, int64[K]."""
        return np.array([sum(p.shape[1] for p in (c.train, c.val, c.test)) for c in self.client_data])

    @property
    def train_nodes_per_client(self) -> np.ndarray:
        """Training pairs a client, int64[K]."""
        return np.array([client.train.shape[1] for client in self.client_data])

    @cached_property
    def client_data(self) -> list[ClientPairs]:
        """Every client's pairs."""
        found = [client_pairs(self.partition, self.dataset, client) for client in range(self.clients)]
        return [
            ClientPairs(
                users=c.users.size,
                items=c.items.size,
                train=c.train,
                val=c.val,
                test=c.test,
                groups=(_all(c.users.size, c.items.size),),
                item_ids=c.items,
                asked=self.test_pairs[c.users],
            )
            for c in found
        ]

    @cached_property
    def test_pairs(self) -> np.ndarray:
        """Test pairs of each user of the data set, int64[U]."""
        return np.bincount(self.dataset.pairs_of(TEST)[0], minlength=self.dataset.n_users)

    @cached_property
    def item_degree(self) -> np.ndarray:
        """Training pairs of each item of the data set, those between clients included, int64[I]."""
        return np.bincount(self.dataset.pairs_of(TRAIN)[1], minlength=self.dataset.n_items)

    @property
    def pooled_shape(self) -> Shape:
        """All users and items."""
        return Shape(self.dataset.n_users, self.dataset.n_items)

    def pooled_data(self) -> ClientPairs:
        """Return all users and items as one client's; each client's users are ranked among that client's items."""
        groups = tuple((self.partition.users_of(k), self.partition.items_of(k)) for k in range(self.clients))
        train, val, test = (np.stack(self.dataset.pairs_of(split)) for split in (TRAIN, VAL, TEST))
        return ClientPairs(
            self.dataset.n_users, self.dataset.n_items, train, val, test, groups, np.arange(self.dataset.n_items)
        )


def _all(users: int, items: int) -> Group:
    return np.arange(users), np.arange(items)


def load_rec(dataset_file: Path, partition_file: Path) -> RecProblem:
    """Read a data set and a partition.

    Raises:
        DataError: a file is missing or damaged, or the partition was made from another data set.
    """
    dataset, partition = RecDataset.read(dataset_file), RecPartition.read(partition_file)
    require_same_dataset(partition.meta, partition_file, dataset_file, "rec")
    return RecProblem(dataset, partition)
