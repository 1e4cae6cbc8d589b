"""GF-CF with dense matrices and NumPy's singular value decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.reference.rec import RecTrace, ranked

TASKS = ("rec",)
USERS_AND_ITEMS = (90, 180)  # so many that no scores are equal
CASES = ({"vectors": 4}, {"vectors": 4, "alpha": 5.0})


def scores(taken: np.ndarray, vectors: int, alpha: float) -> np.ndarray:
    """Return scores [users, items] from training pairs, 0-1 [users, items]."""
    user, item = taken.sum(1), taken.sum(0)
    rooted = (np.divide(1, np.sqrt(d), out=np.zeros(len(d)), where=d > 0) for d in (user, item))
    of_user, of_item = (np.diag(root) for root in rooted)
    scaled = of_user @ taken @ of_item
    right = np.linalg.svd(scaled)[2][:vectors].T
    return taken @ scaled.T @ scaled + alpha * taken @ of_item @ right @ right.T @ np.diag(np.sqrt(item))


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    own = method.settings
    return ranked(problem, [scores(c.taken.toarray(), own.vectors, own.alpha) for c in problem.client_data])
