"""Figures over clients: how a run's accuracy is spread over them, and whether weights over them left 1 / clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fedbench.configuration.table import Metric
from fedbench.records.store import Record
from fedbench.stats.curve import by_client, has_figure
from fedbench.stats.selection import last_rounds
from fedbench.stats.summary import Summary, summarise

CLIENTS = ("average", "deviation")
FAIRNESS = ("worst", "jain")
UNIFORM = 1e-6


def over_clients(figures: Sequence[str], records: Sequence[Record], metric: Metric) -> dict[str, Summary]:
    """Return figures over clients at the selected rounds, by name: mean and spread over seeds.

    With ``metric.over_clients.mode`` of_means there is one figure for all seeds, so its spread is NaN.

    Raises:
        RecordError: the metric is missing, or seeds differ in rounds or clients.
    """
    seeds, rounds, values = by_client(records, metric.name, metric.split)
    read = metric.scale * values[:, last_rounds(rounds, metric.last)]
    if metric.over_clients.mode == "of_means":
        means = np.nanmean(read, axis=(0, 1))
        return {name: Summary(float(FIGURES[name](means, metric)), float("nan"), len(seeds)) for name in figures}
    by_seed = {name: FIGURES[name](read, metric).mean(axis=1).tolist() for name in figures}
    return {name: summarise(dict(zip(seeds, found, strict=True)), metric.ddof) for name, found in by_seed.items()}


def jain(values: np.ndarray) -> np.ndarray:
    """Return Jain's index (sum x)^2 / (n sum x^2) over the last axis: 1 where all are equal, 1/n if all but one are 0.

    Jain, Chiu, Hawe, A quantitative measure of fairness and discrimination, DEC TR-301, 1984, equation 1.
    """
    squares = np.nansum(values**2, axis=-1) * np.sum(~np.isnan(values), axis=-1)
    sums = np.nansum(values, axis=-1) ** 2
    return np.divide(sums, squares, out=np.ones_like(sums), where=squares > 0)


# Of values [..., clients] in the table's unit; a client without a value counts in none.
FIGURES: dict[str, Callable[[np.ndarray, Metric], np.ndarray]] = {
    "average": lambda values, metric: np.nanmean(values, axis=-1),
    "deviation": lambda values, metric: np.nanstd(values, axis=-1, ddof=metric.over_clients.ddof),
    "worst": lambda values, metric: np.nanmin(values, axis=-1),
    "jain": lambda values, metric: jain(values),
}


@dataclass(frozen=True)
class Departure:
    """Smallest and largest weight over clients, rounds and seeds, as multiples of 1 / clients."""

    low: float
    high: float

    @property
    def departed(self) -> bool:
        """Tell whether any weight ever was another than 1 / clients."""
        return max(1 - self.low, self.high - 1) > UNIFORM


def departure(records: Sequence[Record], weights: str) -> Departure | None:
    """Return how far a diagnostic (split none) went from 1 / clients; None if the run doesn't record it."""
    if not has_figure(records, weights, "none"):
        return None
    _, _, values = by_client(records, weights, "none")
    multiples = values * values.shape[-1]
    return Departure(float(multiples.min()), float(multiples.max()))
