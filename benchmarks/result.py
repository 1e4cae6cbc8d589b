"""Rows of `reports/benchmarks.csv`."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Result:
    """One measured figure, beside the other side's if there is one.

    ``ratio`` is other / ours, so more is better for us; ``target`` is what the issue asks of ``ratio`` or of ``ours``.
    """

    name: str
    ours: float
    other: float | None = None
    target: str = ""
    unit: str = ""
    conditions: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.other is None else self.other / self.ours

    def row(self) -> dict[str, str]:
        """Return the row as text, figures to four significant digits."""
        values = asdict(self) | {"ratio": self.ratio}
        return {name: _text(values[name]) for name in COLUMNS}


COLUMNS = ("name", "ours", "other", "ratio", "target", "unit", "conditions")


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def compare(
    name: str, ours: Sequence[float], other: Sequence[float], *, target: str, unit: str, conditions: str
) -> list[Result]:
    """Return two rows, the medians and the minima of both sides."""
    return [
        Result(f"{name}, {label}", pick(ours), pick(other), target, unit, conditions)
        for label, pick in (("median", statistics.median), ("min", min))
    ]


def write(path: Path, results: Iterable[Result], keep: Iterable[dict[str, str]] = ()) -> None:
    """Write the table: kept rows of earlier runs that were not measured again, then the new ones."""
    rows = [result.row() for result in results]
    measured = {row["name"] for row in rows}
    kept = [row for row in keep if row["name"] not in measured]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(kept + rows, key=lambda row: row["name"]))


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of an earlier table, none if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
