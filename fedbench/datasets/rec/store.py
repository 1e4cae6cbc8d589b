"""The data set file of the task `rec`. Light: importing it imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.artefacts import DatasetArtefact
from fedbench.datasets.rec.raw import SPLIT_NAMES


@dataclass(frozen=True)
class RecDataset(DatasetArtefact):
    """Implicit feedback: which user took which item; m different pairs, sorted by (user, item).

    Attributes:
        users: int64[m], 0 .. users - 1.
        items: int64[m], 0 .. items - 1.
        split: int8[m], 0 train, 1 validation, 2 test.
        meta: dataset, task, users, items, pairs (of each split), order (official or content), split (its settings).
    """

    TASK = "rec"

    users: np.ndarray
    items: np.ndarray
    split: np.ndarray

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
