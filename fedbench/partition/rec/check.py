"""Invariants that every partition of users and items satisfies before it is written."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedbench.datasets.rec.raw import TRAIN
from fedbench.datasets.rec.store import RecDataset
from fedbench.errors import DataError
from fedbench.partition.check import within
from fedbench.partition.rec.store import RecPartition


def check_rec_partition(partition: RecPartition, dataset: RecDataset, disjoint: bool) -> None:
    """Refuse a partition that breaks an invariant.

    Args:
        partition: what to check.
        dataset: what it is a partition of.
        disjoint: whether an item may be in one client only.

    Raises:
        DataError: names every broken invariant.
    """
    broken = list(_broken(partition, dataset, disjoint))
    if broken:
        raise DataError(
            f"a valid partition of {dataset.name}",
            found="; ".join(broken),
            allowed="each user in one client; only items with training pairs, once in a client; no client without "
            "users or items",
            remedy="ask for fewer clients, or take another partition seed (<scheme>-<clients>-s<seed>)",
        )


def _broken(partition: RecPartition, dataset: RecDataset, disjoint: bool) -> Iterator[str]:
    clients = partition.clients
    if not (within(partition.client, clients) and within(partition.item_client, clients)):
        yield "a client's number out of range"
        return
    if not np.array_equal(np.sort(partition.user), np.arange(dataset.n_users)):
        yield "a user in no client, or in several"
    if (np.diff(partition.client * dataset.n_users + partition.user) <= 0).any():
        yield "users out of order"
    if (np.diff(partition.item_client * dataset.n_items + partition.item) <= 0).any():
        yield "items out of order, or given twice"
    if np.setdiff1d(partition.item, dataset.pairs_of(TRAIN)[1]).size:
        yield "items that no training pair has"
    if disjoint and np.unique(partition.item).size < partition.item.size:
        yield "an item in several clients"
    yield from (
        f"client {client} without users or items"
        for client in range(clients)
        if not ((partition.client == client).any() and (partition.item_client == client).any())
    )


def check_group_sizes(name: str, sizes: tuple[int, ...], names: tuple[str, ...], clients: int) -> None:
    """Refuse groups that don't share out the clients.

    Raises:
        DataError: says how many there must be.
    """
    if sum(sizes) != clients or len(sizes) != len(names) or min(sizes) < 1:
        raise DataError(
            f"the groups of {name}",
            found=f"{clients} clients in groups of {', '.join(map(str, sizes))} named {', '.join(names)}",
            allowed="one name a group, and sizes that add up to the clients",
            remedy=f"ask for {sum(sizes)} clients, or change the scheme's groups",
        )
