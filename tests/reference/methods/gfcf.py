"""GF-CF with dense matrices and NumPy's singular value decomposition."""

from __future__ import annotations

import numpy as np

TASKS = ("rec",)


def scores(taken: np.ndarray, vectors: int, alpha: float) -> np.ndarray:
    """Return scores [users, items] from training pairs, 0-1 [users, items]."""
    user, item = taken.sum(1), taken.sum(0)
    rooted = (np.divide(1, np.sqrt(d), out=np.zeros(len(d)), where=d > 0) for d in (user, item))
    of_user, of_item = (np.diag(root) for root in rooted)
    scaled = of_user @ taken @ of_item
    right = np.linalg.svd(scaled)[2][:vectors].T
    return taken @ scaled.T @ scaled + alpha * taken @ of_item @ right @ right.T @ np.diag(np.sqrt(item))
