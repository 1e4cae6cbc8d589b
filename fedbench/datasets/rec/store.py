"""The data set file of the task `rec`. Light: reading one imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.artefacts import read_artefact
from fedbench.datasets.rec.raw import SPLIT_NAMES
from fedbench.files import sha256_of, write_arrays

ARRAYS = ("users", "items", "split")


@dataclass(frozen=True)
class RecDataset:
    """Implicit feedback: which user took which item; m different pairs, sorted by (user, item).

    Attributes:
        users: int64[m], 0 .. users - 1.
        items: int64[m], 0 .. items - 1.
        split: int8[m], 0 train, 1 validation, 2 test.
        meta: dataset, task, users, items, pairs (of each split), order (official or content), split (its settings).
        digest: sha256 of the file it was read from; empty if it was not read from a file.
    """

    users: np.ndarray
    items: np.ndarray
    split: np.ndarray
    meta: dict[str, Any]
    digest: str = ""

    @property
    def name(self) -> str:
        """Return the data set's name in the catalogue."""
        return str(self.meta["dataset"])

    @property
    def n_users(self) -> int:
        """Return the number of users."""
        return int(self.meta["users"])

    @property
    def n_items(self) -> int:
        """Return the number of items."""
        return int(self.meta["items"])

    def pairs_of(self, split: int) -> tuple[np.ndarray, np.ndarray]:
        """Return int64[k] and int64[k]: users and items of one split's pairs."""
        chosen = self.split == split
        return self.users[chosen], self.items[chosen]


def pair_counts(split: np.ndarray) -> dict[str, int]:
    """Return how many pairs each split has, by name."""
    counts = np.bincount(split, minlength=len(SPLIT_NAMES))
    return {name: int(count) for name, count in zip(SPLIT_NAMES, counts, strict=True)}


def write_rec_dataset(path: Path, dataset: RecDataset) -> None:
    """Write a data set file; the same content gives the same bytes."""
    write_arrays(path, {name: getattr(dataset, name) for name in ARRAYS}, dataset.meta)


def read_rec_dataset(path: Path) -> RecDataset:
    """Read a data set file.

    Raises:
        DataError: it is missing, damaged, of another task, or lacks an array.
    """
    arrays, meta = read_artefact(path, ARRAYS, kind="dataset", task="rec")
    return RecDataset(**arrays, meta=meta, digest=sha256_of(path))
