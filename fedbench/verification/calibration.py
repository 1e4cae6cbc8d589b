"""Compare runs with figures known to be reproducible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from fedbench.configuration.calibration import CalibrationFile, Check
from fedbench.configuration.table import Metric
from fedbench.errors import RecordError
from fedbench.records.pack import Records
from fedbench.stats.measures import selected_values
from fedbench.stats.summary import Summary, summarise

FIRST = 5


@dataclass(frozen=True)
class Calibrated:
    """A check and what our records say; ``first`` is the mean over the five first seeds alone."""

    check: Check
    decimals: int
    ours: Summary
    first: float

    @property
    def ok(self) -> bool:
        """Tell whether the mean over all seeds is within the tolerance."""
        return abs(self.ours.mean - self.check.target) <= self.check.tolerance

    @property
    def standard_error(self) -> float | None:
        """The standard error of our mean less the published one, if both are of runs that spread as the published do.

        s sqrt(1 / n + 1 / m): n our seeds, m the published ones, s their standard deviation. None where not published.
        """
        std, seeds = self.check.published_std, self.check.published_seeds
        return None if std is None or seeds is None else std * math.sqrt(1 / self.ours.n + 1 / seeds)

    @property
    def by_chance(self) -> bool | None:
        """Tell whether the difference is within two standard errors, so that chance explains it; None if unknown."""
        error = self.standard_error
        return None if error is None else abs(self.ours.mean - self.check.target) <= 2 * error


def calibrate(files: Sequence[CalibrationFile], blocks: Sequence[str], records: Records) -> list[Calibrated]:
    """Return the outcome of every check.

    Args:
        files: the calibrations.
        blocks: names of the seed blocks whose records count.
        records: where records are.

    Raises:
        RecordError: a record is missing.
    """
    return [_calibrated(check, check.metric or file.metric, blocks, records) for file in files for check in file.checks]


def _calibrated(check: Check, metric: Metric, blocks: Sequence[str], records: Records) -> Calibrated:
    names = [str(check.run.folder / f"seeds-{block}") for block in blocks]
    entries = [records.get(name) for name in names]
    missing = [name for name, entry in zip(names, entries, strict=True) if entry is None]
    if missing:
        raise RecordError(
            f"calibrate '{check.name}'", found=f"no record {', '.join(missing)}", remedy="run `make calibrate`"
        )
    values = selected_values([entry.record for entry in entries if entry], metric)
    first = {seed: value for seed, value in values.items() if seed < FIRST}
    return Calibrated(check, metric.decimals, summarise(values, metric.ddof), summarise(first, metric.ddof).mean)


def as_table(outcomes: Sequence[Calibrated]) -> pd.DataFrame:
    """Return one row a check: name, ours, published, tolerance, ok, and what stands behind them."""
    return pd.DataFrame([_row(outcome) for outcome in outcomes])


def _row(outcome: Calibrated) -> dict[str, object]:
    def text(value: float | None) -> str:
        return "" if value is None else f"{value:.{outcome.decimals}f}"

    return {
        "name": outcome.check.name,
        "ours": text(outcome.ours.mean),
        "published": text(outcome.check.published),
        "target": text(outcome.check.target),
        "tolerance": text(outcome.check.tolerance),
        "ok": outcome.ok,
        "standard_error": text(outcome.standard_error),
        "within_2_errors": "" if outcome.by_chance is None else outcome.by_chance,
        "std": text(outcome.ours.std),
        "n_seeds": outcome.ours.n,
        f"ours_first_{FIRST}_seeds": text(outcome.first),
        "target_source": outcome.check.source,
    }
