"""Rows of a table of kind `paired`: each run minus the baseline's, seed by seed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from fedbench.configuration.table import TableFile
from fedbench.records.check import Present
from fedbench.stats.cells import Cell
from fedbench.stats.measures import metrics_of
from fedbench.stats.paired import PairedFigures, paired_figures
from fedbench.stats.verdict import NOT_PUBLISHED, NOT_RUN
from fedbench.tables.csv_row import identity, provenance, rounded


def paired_rows(table: TableFile, cells: Sequence[Cell], present: Present) -> Iterator[dict[str, Any]]:
    """Yield a row a cell of every row but the baseline's; ``records`` are both runs'.

    ``mean`` and ``std`` (sample deviation) are the differences', ``low`` and ``high`` Student's 95 % interval.

    Raises:
        RecordError: a figure can't be read off its records.
    """
    base = table.baseline_row
    against = {(cell.run.dataset, cell.run.partition): cell for cell in cells if cell.row == base}
    for cell in (cell for cell in cells if cell.row != base):
        baseline = against[cell.run.dataset, cell.run.partition]
        yield {
            **identity(cell),
            **provenance([cell, baseline], present),
            "metric": metrics_of(table.kind, table.metric)[0],
            "baseline": baseline.row.name,
            **_figures(paired_figures(cell, baseline, table.metric)),
        }


def _figures(found: PairedFigures | None) -> dict[str, Any]:
    if found is None:
        return {"mean": math.nan, "std": math.nan, "n_seeds": 0, "verdict": NOT_RUN}
    difference = found.difference
    return {
        "mean": rounded(difference.mean),
        "std": rounded(difference.std),
        "n_seeds": difference.n,
        "wins": found.wins,
        "low": rounded(found.low),
        "high": rounded(found.high),
        "verdict": NOT_PUBLISHED,
    }
