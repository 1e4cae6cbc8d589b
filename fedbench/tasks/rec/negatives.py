"""Items that a user hasn't taken, drawn evenly without trial and error.

A user's r-th item not taken is r + t, t the number of items taken before it: the number of taken items p_0 < p_1 < ...
with p_t - t <= r. All users' p_t - t, each raised by the user's number times a stride, are one ascending array.
"""

from __future__ import annotations

import numpy as np


class Negatives:
    """The items that each user has not taken.

    Args:
        pairs: int64[2, m], users and items taken, sorted by (user, item).
        users: number of users.
        items: number of items.
    """

    def __init__(self, pairs: np.ndarray, users: int, items: int) -> None:
        taken = np.bincount(pairs[0], minlength=users)
        self._start = np.concatenate([[0], np.cumsum(taken)])
        self._stride = items + 1
        before = np.arange(pairs.shape[1]) - self._start[pairs[0]]
        self._gaps = pairs[0] * self._stride + pairs[1] - before
        self.free: np.ndarray = items - taken
        """Items not taken, of each user, int64[users]."""

    def draw(self, users: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
        """Return ``count`` items for each of the ``users`` [m], int64[m, count]; each must have one left."""
        rank = random.integers(0, self.free[users][:, None], (len(users), count))
        return self.nth(users[:, None], rank)

    def nth(self, users: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """Return the users' items not taken at places ``rank``, from 0 and ascending."""
        return rank + np.searchsorted(self._gaps, users * self._stride + rank, side="right") - self._start[users]
