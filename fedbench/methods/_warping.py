"""Dynamic time warping between short series, all pairs at once."""

from __future__ import annotations

import numpy as np


def warping_distances(series: np.ndarray) -> np.ndarray:
    """Return the DTW distance of every pair of rows of [n, length], [n, n].

    The square root of the least sum of squared differences over monotone alignments that start and end together, any
    element aligned with as many of the other's as it takes (Sakoe & Chiba 1978; dtaidistance's default).
    """
    cost = (series[:, None, :, None] - series[None, :, None, :]) ** 2
    pairs, length = cost.shape[:2], series.shape[1]
    least = np.full((length + 1, length + 1, *pairs), np.inf)
    least[0, 0] = 0.0
    for i in range(length):
        for j in range(length):
            before = np.minimum(np.minimum(least[i, j + 1], least[i + 1, j]), least[i, j])
            least[i + 1, j + 1] = cost[:, :, i, j] + before
    distances: np.ndarray = np.sqrt(least[-1, -1])
    return distances


def unit_spread(series: np.ndarray) -> np.ndarray:
    """Return rows [n, length] divided by their standard deviation (population); a constant row as it is."""
    spread = series.std(axis=1, keepdims=True)
    return series / np.where(spread > 0, spread, 1.0)
