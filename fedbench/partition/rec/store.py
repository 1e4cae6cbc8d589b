"""The partition file of the task `rec`. Light: importing it imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.artefacts import PartitionArtefact


@dataclass(frozen=True)
class RecPartition(PartitionArtefact):
    """Who has which users and items.

    Attributes:
        client: int64[U], 0 .. clients - 1, with ``user`` each user's client, sorted by (client, user).
        user: int64[U], number in the data set file; each user once.
        item_client: int64[k], with ``item`` the items of each client, sorted by (client, item).
        item: int64[k], number in the data set file; in several clients where the scheme's items are ``by_user``.
        meta: dataset, dataset_digest, task, scheme, clients, seed, settings, kept_edges and cut_edges (training pairs),
            users, items, train, density and group of each client, shared_items, val_outside and test_outside (shares).
    """

    TASK = "rec"

    client: np.ndarray
    user: np.ndarray
    item_client: np.ndarray
    item: np.ndarray

    def users_of(self, client: int) -> np.ndarray:
        """Return int64[u], ascending: a client's users."""
        return self.user[self.client == client]

    def items_of(self, client: int) -> np.ndarray:
        """Return int64[i], ascending: a client's items."""
        return self.item[self.item_client == client]
