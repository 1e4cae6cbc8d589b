"""Random clusters: a control for what a cut along the graph does."""

from __future__ import annotations

import numpy as np


def random_clusters(users: int, items: int, clusters: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return int64[users] and int64[items], random clusters whose sizes differ by one at most.

    Those of users and of items are independent, so one in ``clusters`` of the pairs stays inside on average.
    """
    user, item = (draw.permutation(np.arange(size) % clusters) for size in (users, items))
    return user, item
