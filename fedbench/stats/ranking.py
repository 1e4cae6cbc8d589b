"""Do the methods come in the paper's order?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

FEWEST = 3


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rho and Kendall's tau-b between our means and the published ones, over ``n`` methods."""

    spearman: float
    kendall: float
    n: int


def rank_correlation(ours: Sequence[float], published: Sequence[float]) -> RankCorrelation | None:
    """Compare the order of the same methods here and in the paper.

    Returns None for fewer than three methods, or where all means are equal: an order of two says nothing.
    """
    if len(ours) < FEWEST or len(set(ours)) == 1 or len(set(published)) == 1:
        return None
    spearman = float(stats.spearmanr(ours, published).statistic)
    return RankCorrelation(spearman, float(stats.kendalltau(ours, published).statistic), len(ours))
