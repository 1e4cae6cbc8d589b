"""The partition file of the task `node`. Light: reading one imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.errors import DataError
from fedbench.files import read_arrays, sha256_of, write_arrays

TRAIN, VAL, TEST, UNUSED = range(4)
SPLIT_NAMES = ("train", "val", "test", "unused")


@dataclass(frozen=True)
class Partition:
    """Who has which node, and what for; m memberships, sorted by (client, node).

    Attributes:
        client: int64[m], 0 .. clients - 1.
        node: int64[m], position in the data set file.
        split: int8[m], 0 train, 1 validation, 2 test, 3 unused. One entry has one split, so masks are disjoint.
        meta: dataset, dataset_digest, scheme, clients, seed, settings, kept_edges and cut_edges (undirected).
        digest: sha256 of the file it was read from; empty if it was not read from a file.
    """

    client: np.ndarray
    node: np.ndarray
    split: np.ndarray
    meta: dict[str, Any]
    digest: str = ""

    @property
    def clients(self) -> int:
        """Return the number of clients."""
        return int(self.meta["clients"])

    def nodes_of(self, client: int, split: int | None = None) -> np.ndarray:
        """Return int64[k], ascending: a client's nodes, or those of one split."""
        chosen = self.client == client
        return self.node[chosen if split is None else chosen & (self.split == split)]


def write_partition(path: Path, partition: Partition) -> None:
    """Write a partition file."""
    arrays = {"client": partition.client, "node": partition.node, "split": partition.split}
    write_arrays(path, arrays, partition.meta)


def read_partition(path: Path) -> Partition:
    """Read a partition file.

    Raises:
        DataError: it is missing, damaged, or lacks an array.
    """
    arrays, meta = read_arrays(path)
    if set(arrays) != {"client", "node", "split"}:
        raise DataError(
            f"read the partition {path}",
            found=f"arrays {', '.join(sorted(arrays))}",
            allowed="arrays client, node, split",
            remedy="run `fedbench partition` again",
        )
    return Partition(**arrays, meta=meta, digest=sha256_of(path))
