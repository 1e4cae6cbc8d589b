"""Popularity: counts; of equal items the first leads."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.reference.rec import RecTrace, ranked

TASKS = ("rec",)
USERS_AND_ITEMS = (90, 180)


def scores(taken: np.ndarray) -> np.ndarray:
    """Return scores [users, items] from training pairs, 0-1 [users, items]."""
    items = taken.shape[1]
    return np.tile(taken.sum(0) * items - np.arange(items), (len(taken), 1))


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    return ranked(problem, [scores(client.taken.toarray()) for client in problem.client_data])
