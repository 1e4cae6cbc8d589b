"""Rows of a table of kind `paired`: each run minus the baseline's, seed by seed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from fedbench.configuration.table import Row, TableFile
from fedbench.records.check import Present
from fedbench.stats.cells import Cell
from fedbench.stats.measures import metrics_of
from fedbench.stats.paired import PairedFigures, paired_figures
from fedbench.stats.verdict import NOT_PUBLISHED, NOT_RUN
from fedbench.tables.csv_row import identity, provenance, rounded

OVERALL = ("all", "all")
"""Data set and partition of the column that stands for all others."""


def has_overall(table: TableFile) -> bool:
    """Tell whether a table has the column `OVERALL`: a paired one of more than one column."""
    return table.kind == "paired" and len(table.columns) > 1


def paired_rows(table: TableFile, cells: Sequence[Cell], present: Present) -> Iterator[dict[str, Any]]:
    """Yield a row a cell of every row but the baseline's, and one over all its columns; ``records`` are both runs'.

    ``mean`` and ``std`` (sample deviation) are the differences', ``low`` and ``high`` Student's 95 % interval. Over all
    columns a seed's difference is the mean of its differences in each: columns count alike, and seeds stay the sample.

    Raises:
        RecordError: a figure can't be read off its records.
    """
    of_row = {row: [cell for cell in cells if cell.row == row] for row in table.rows}
    baselines = next(own for row, own in of_row.items() if row == table.baseline_row)
    for row in table.printed_rows:
        for cell, baseline in zip(of_row[row], baselines, strict=True):
            yield identity(cell) | _difference([cell], [baseline], table, present)
        if has_overall(table):
            yield _overall(row) | _difference(of_row[row], baselines, table, present)


def _overall(row: Row) -> dict[str, Any]:
    dataset, partition = OVERALL
    return {"dataset": dataset, "partition": partition, "method": row.method, "variant": row.variant_in(dataset)}


def _difference(cells: Sequence[Cell], baselines: Sequence[Cell], table: TableFile, present: Present) -> dict[str, Any]:
    return {
        **provenance([*cells, *baselines], present),
        "metric": metrics_of(table.kind, table.metric)[0],
        "baseline": baselines[0].row.name,
        **_figures(paired_figures(cells, baselines, table.metric)),
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
