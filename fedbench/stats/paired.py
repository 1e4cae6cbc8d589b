"""A run minus a baseline, seed by seed, with a confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import stats

from fedbench.configuration.table import Metric
from fedbench.stats.cells import Cell
from fedbench.stats.measures import selected_values
from fedbench.stats.summary import Summary, paired

LEVEL = 0.95


@dataclass(frozen=True)
class PairedFigures:
    """A paired difference, in how many seeds the run is better than the baseline, and its interval at `LEVEL`."""

    difference: Summary
    wins: int
    low: float
    high: float


def paired_figures(cell: Cell, baseline: Cell, metric: Metric) -> PairedFigures | None:
    """Return ``cell - baseline`` in the table's unit over the seeds that both have; None if they share none.

    Raises:
        RecordError: a figure can't be read off its records.
    """
    if not cell.entries or not baseline.entries:
        return None
    ours, theirs = (selected_values(each.records, metric) for each in (cell, baseline))
    found, reverse = paired(ours, theirs), paired(theirs, ours)
    if found is None or reverse is None:
        return None
    wins = {"higher": found.wins, "lower": reverse.wins}[metric.better]
    return PairedFigures(found.difference, wins, *t_interval(found.difference))


def t_interval(difference: Summary, level: float = LEVEL) -> tuple[float, float]:
    """Return Student's interval for the mean of ``n`` differences; NaN for fewer than two.

    ``difference.std`` is the sample standard deviation (ddof 1). It assumes that differences are about normal.
    """
    if difference.n < 2:
        return math.nan, math.nan
    reach = float(stats.t.ppf((1 + level) / 2, difference.n - 1)) * difference.std / math.sqrt(difference.n)
    return difference.mean - reach, difference.mean + reach
