"""Invariants that every partition satisfies before it is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fedbench.errors import DataError
from fedbench.partition.store import SPLIT_NAMES, Partition


class NamedDataset(Protocol):
    """A data set of any task: its name, and the sha256 of its file."""

    @property
    def name(self) -> str:
        """Return the data set's name."""

    @property
    def digest(self) -> str:
        """Return the sha256 of the file it was read from."""


class Described(Protocol):
    """A partition of any task."""

    @property
    def meta(self) -> dict[str, Any]:
        """Return its description."""


def check_partition(partition: Partition, nodes: int, disjoint: bool = True) -> None:
    """Refuse a partition that breaks an invariant.

    Args:
        partition: what to check.
        nodes: nodes of the data set.
        disjoint: whether every node belongs to exactly one client; otherwise to any number of them, or to none, but
            in one role.

    Raises:
        DataError: names every broken invariant.
    """
    broken = list(_broken(partition, nodes, disjoint))
    if broken:
        raise DataError(
            f"a valid partition of {partition.meta['dataset']}",
            found="; ".join(broken),
            allowed="each node in a client, or in any number of overlapping ones in one role; no client empty; entries "
            "sorted by (client, node)",
            remedy="a table or scheme at fault: correct it and run `fedbench partition` again",
        )


def _broken(partition: Partition, nodes: int, disjoint: bool) -> Iterator[str]:
    client, node, split = partition.client, partition.node, partition.split
    if not (within(node, nodes) and within(client, partition.clients) and within(split, len(SPLIT_NAMES))):
        yield "a node, client or split number out of range"
        return
    times = np.bincount(node, minlength=nodes)
    if disjoint and (times == 0).any():
        yield f"{(times == 0).sum():,} nodes in no client"
    if disjoint and (times > 1).any():
        yield f"{(times > 1).sum():,} nodes in more than one client"
    if torn := _torn(node, split):
        yield f"{torn:,} nodes with more than one role"
    empty = np.flatnonzero(np.bincount(client, minlength=partition.clients) == 0)
    if empty.size:
        yield f"no nodes in client {', '.join(map(str, empty))}"
    if (np.diff(client * nodes + node) <= 0).any():
        yield "entries out of order, or given twice"


def _torn(node: np.ndarray, split: np.ndarray) -> int:
    """Return how many nodes have different splits in different entries."""
    roles = np.unique(node * len(SPLIT_NAMES) + split)
    return int((np.unique(roles // len(SPLIT_NAMES), return_counts=True)[1] > 1).sum())


def within(values: np.ndarray, size: int) -> bool:
    """Tell whether all values are 0 .. size - 1."""
    return bool(((values >= 0) & (values < size)).all())


def check_size(clients: int, nodes: int, dataset: str) -> None:
    """Refuse more clients than nodes.

    Raises:
        DataError: says how many there may be.
    """
    if clients > nodes:
        raise DataError(
            f"{clients:,} clients of {dataset}",
            found=f"{nodes:,} nodes",
            allowed=f"1 to {nodes:,} clients, so that each has a node",
            remedy="ask for fewer clients",
        )


def check_name(asked: str, dataset: NamedDataset, path: Path) -> None:
    """Refuse a data set file that holds another data set than the one asked for.

    Raises:
        DataError: names both.
    """
    if dataset.name != asked:
        raise DataError(
            f"a partition of {asked}",
            found=f"{path} holds {dataset.name}",
            allowed=f"a data set file of {asked}",
            remedy=f"give the file that `fedbench dataset {asked}` wrote",
        )


def check_same_dataset(partition: Described, dataset: NamedDataset) -> None:
    """Refuse a partition made from another data set file than ``dataset`` was read from.

    Raises:
        DataError: names both.
    """
    made_from = partition.meta["dataset_digest"]
    if made_from != dataset.digest:
        raise DataError(
            f"a partition of the data set file {dataset.name}",
            found=f"one made from {partition.meta['dataset']} with sha256 {made_from}",
            allowed=f"one made from {dataset.name} with sha256 {dataset.digest}",
            remedy="run `fedbench partition` again",
        )
