"""Compare runs with figures known to be reproducible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fedbench.configuration.calibration import CalibrationFile, Check
from fedbench.configuration.suite import load_suite
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
    ours: Summary
    first: float

    @property
    def ok(self) -> bool:
        """Tell whether the mean over all seeds is within the tolerance."""
        return abs(self.ours.mean - self.check.target) <= self.check.tolerance


def calibrate(files: Sequence[CalibrationFile], configs: Path, records: Records) -> list[Calibrated]:
    """Return the outcome of every check.

    Args:
        files: the calibrations.
        configs: configuration folder, with the suites whose seeds count.
        records: where records are.

    Raises:
        RecordError: a record is missing.
    """
    blocks = {file.suite: load_suite(file.suite, configs).seed_blocks for file in files}
    return [_calibrated(check, file.metric, blocks[file.suite], records) for file in files for check in file.checks]


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
    return Calibrated(check, summarise(values, metric.ddof), summarise(first, metric.ddof).mean)


def as_table(outcomes: Sequence[Calibrated]) -> pd.DataFrame:
    """Return one row a check: name, ours, published, tolerance, ok, and what stands behind them."""
    rows = [
        {
            "name": outcome.check.name,
            "ours": f"{outcome.ours.mean:.2f}",
            "published": "" if outcome.check.published is None else f"{outcome.check.published:.2f}",
            "target": f"{outcome.check.target:.2f}",
            "tolerance": f"{outcome.check.tolerance:.2f}",
            "ok": outcome.ok,
            "std": f"{outcome.ours.std:.2f}",
            "n_seeds": outcome.ours.n,
            f"ours_first_{FIRST}_seeds": f"{outcome.first:.2f}",
            "target_source": outcome.check.source,
        }
        for outcome in outcomes
    ]
    return pd.DataFrame(rows)
