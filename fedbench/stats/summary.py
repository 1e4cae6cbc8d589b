"""Mean and spread over seeds, and paired differences between two runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Summary:
    """``mean`` and ``std`` over ``n`` seeds; ``std`` is NaN where one seed leaves it undefined (ddof 1)."""

    mean: float
    std: float
    n: int


def summarise(values: Mapping[int, float], ddof: int = 0) -> Summary:
    """Return mean and standard deviation of the values by seed; the order of seeds doesn't matter."""
    array = np.array([values[seed] for seed in sorted(values)], dtype=np.float64)
    std = float(array.std(ddof=ddof)) if len(array) > ddof else float("nan")
    return Summary(float(array.mean()), std, len(array))


@dataclass(frozen=True)
class Paired:
    """Differences ``a - b`` over the seeds that both have: their summary, and in how many of them ``a`` is above."""

    difference: Summary
    wins: int


def paired(a: Mapping[int, float], b: Mapping[int, float], ddof: int = 1) -> Paired | None:
    """Compare two runs seed by seed (same seed: same initial weights); None if they share no seed."""
    common = {seed: a[seed] - b[seed] for seed in a if seed in b}
    if not common:
        return None
    return Paired(summarise(common, ddof), sum(value > 0 for value in common.values()))
