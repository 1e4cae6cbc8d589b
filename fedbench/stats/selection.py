"""Which round's figure counts: the rules of `fedbench.configuration.table.Metric.select`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fedbench.configuration.table import Metric
from fedbench.errors import RecordError
from fedbench.records.store import Record
from fedbench.stats.curve import Curve, curve

TIE_DECIMALS = 9


@dataclass(frozen=True)
class Selected:
    """Per seed: the round chosen (of several the last) and the figure there (record's unit).

    ``evaluated``: all rounds that could be chosen.
    """

    seeds: tuple[int, ...]
    rounds: tuple[int, ...]
    values: np.ndarray
    evaluated: tuple[int, ...]


def select(records: Sequence[Record], metric: Metric) -> Selected:
    """Read one figure a seed off the records of a run by the metric's rule.

    Raises:
        RecordError: the figure or the validation figure is missing or NaN (see `curve`).
    """
    figure = curve(records, metric.name, metric.split, metric.group)
    columns = RULES[metric.select](figure, metric, lambda: _validation(records, metric, figure))
    rounds = tuple(figure.rounds[column] for column in columns[:, -1])
    values = np.take_along_axis(figure.values, columns, axis=1).mean(axis=1)
    return Selected(figure.seeds, rounds, values, figure.rounds)


def last_rounds(rounds: Sequence[int], last: int) -> np.ndarray:
    """Return the places, among the evaluated rounds, of those within the last ``last`` rounds of training."""
    return np.flatnonzero(np.array(rounds) > rounds[-1] - last)


def _best_validation_round(figure: Curve, metric: Metric, validation: Callable[[], np.ndarray]) -> np.ndarray:
    """Each seed's own first best round."""
    return validation().argmax(axis=1)[:, None]


def _common_best_round(figure: Curve, metric: Metric, validation: Callable[[], np.ndarray]) -> np.ndarray:
    """The first best round of the mean over seeds, for every seed."""
    return np.full((len(figure.seeds), 1), validation().mean(axis=0).round(TIE_DECIMALS).argmax())


def _last_round(figure: Curve, metric: Metric, validation: Callable[[], np.ndarray]) -> np.ndarray:
    return np.full((len(figure.seeds), 1), len(figure.rounds) - 1)


def _last_rounds(figure: Curve, metric: Metric, validation: Callable[[], np.ndarray]) -> np.ndarray:
    return np.tile(last_rounds(figure.rounds, metric.last), (len(figure.seeds), 1))


def _validation(records: Sequence[Record], metric: Metric, figure: Curve) -> np.ndarray:
    """Return the validation figures [seeds, rounds] at the rounds of ``figure``, rounded to nine decimals."""
    chosen_by = metric.chosen_by or metric.name
    found = curve(records, chosen_by, "val")
    if found.rounds != figure.rounds:
        raise RecordError(
            f"choose a round by {chosen_by} on val",
            found=f"other rounds than on {metric.split}",
            allowed="both splits in every evaluated round",
            remedy="record both splits together",
        )
    # Equal means must tie, though sums of the same fractions in another order differ in the last bits.
    return np.round(found.values, TIE_DECIMALS)


# From a run's curve to the places of the rounds read, int[seeds, rounds read]; the mean over these counts.
Rule = Callable[[Curve, Metric, Callable[[], np.ndarray]], np.ndarray]
RULES: dict[str, Rule] = {
    "best_validation_round": _best_validation_round,
    "common_best_round": _common_best_round,
    "last_round": _last_round,
    "last_rounds": _last_rounds,
}
