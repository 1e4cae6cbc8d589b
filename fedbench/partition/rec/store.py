"""The partition file of the task `rec`. Light: reading one imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.artefacts import read_artefact
from fedbench.files import sha256_of, write_arrays

ARRAYS = ("client", "user", "item_client", "item")


@dataclass(frozen=True)
class RecPartition:
    """Who has which users and items.

    Attributes:
        client: int64[U], 0 .. clients - 1, with ``user`` each user's client, sorted by (client, user).
        user: int64[U], number in the data set file; each user once.
        item_client: int64[k], with ``item`` the items of each client, sorted by (client, item).
        item: int64[k], number in the data set file; in several clients where the scheme's items are ``by_user``.
        meta: dataset, dataset_digest, task, scheme, clients, seed, settings, kept_edges and cut_edges (training pairs),
            users, items, train, density and group of each client, shared_items, val_outside and test_outside (shares).
        digest: sha256 of the file it was read from; empty if it was not read from a file.
    """

    client: np.ndarray
    user: np.ndarray
    item_client: np.ndarray
    item: np.ndarray
    meta: dict[str, Any]
    digest: str = ""

    @property
    def clients(self) -> int:
        """Return the number of clients."""
        return int(self.meta["clients"])

    def users_of(self, client: int) -> np.ndarray:
        """Return int64[u], ascending: a client's users."""
        return self.user[self.client == client]

    def items_of(self, client: int) -> np.ndarray:
        """Return int64[i], ascending: a client's items."""
        return self.item[self.item_client == client]


def write_rec_partition(path: Path, partition: RecPartition) -> None:
    """Write a partition file."""
    write_arrays(path, {name: getattr(partition, name) for name in ARRAYS}, partition.meta)


def read_rec_partition(path: Path) -> RecPartition:
    """Read a partition file.

    Raises:
        DataError: it is missing, damaged, of another task, or lacks an array.
    """
    arrays, meta = read_artefact(path, ARRAYS, kind="partition", task="rec")
    return RecPartition(**arrays, meta=meta, digest=sha256_of(path))
