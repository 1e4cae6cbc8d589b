"""A run minus a baseline, seed by seed, with a confidence interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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


def paired_figures(cells: Sequence[Cell], baselines: Sequence[Cell], metric: Metric) -> PairedFigures | None:
    """Return the mean of ``cells`` minus that of ``baselines``, in the table's unit, over the seeds that all have.

    None if they share no seed.

    Raises:
        RecordError: a figure can't be read off its records.
    """
    if not all(cell.entries for cell in (*cells, *baselines)):
        return None
    ours, theirs = (_mean_by_seed(each, metric) for each in (cells, baselines))
    found, reverse = paired(ours, theirs), paired(theirs, ours)
    if found is None or reverse is None:
        return None
    wins = {"higher": found.wins, "lower": reverse.wins}[metric.better]
    return PairedFigures(found.difference, wins, *t_interval(found.difference))


def _mean_by_seed(cells: Sequence[Cell], metric: Metric) -> Mapping[int, float]:
    every = [selected_values(cell.records, metric) for cell in cells]
    return {
        seed: sum(one[seed] for one in every) / len(every) for seed in every[0] if all(seed in one for one in every)
    }


def t_interval(difference: Summary, level: float = LEVEL) -> tuple[float, float]:
    """Return Student's interval for the mean of ``n`` differences; NaN for fewer than two.

    ``difference.std`` is the sample standard deviation (ddof 1). It assumes that differences are about normal.
    """
    if difference.n < 2:
        return math.nan, math.nan
    reach = float(stats.t.ppf((1 + level) / 2, difference.n - 1)) * difference.std / math.sqrt(difference.n)
    return difference.mean - reach, difference.mean + reach
