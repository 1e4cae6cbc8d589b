"""Rows of a table of kind `rounds`: what a round of each method costs, and how many times the baseline's that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fedbench.configuration.table import TableFile
from fedbench.records.check import Present
from fedbench.stats.cells import Cell
from fedbench.stats.measures import ROUNDS
from fedbench.stats.rounds import round_costs
from fedbench.tables.csv_row import identity, judged, provenance


def rounds_rows(table: TableFile, cells: Sequence[Cell], present: Present) -> Iterator[dict[str, Any]]:
    """Yield a row a cell and figure."""
    base = table.baseline_row
    against = {(cell.run.dataset, cell.run.partition): cell for cell in cells if cell.row == base and cell.entries}
    for cell in cells:
        baseline = against.get((cell.run.dataset, cell.run.partition))
        found = round_costs(cell, baseline, table.metric) if cell.entries else {}
        about = {**identity(cell), **provenance([cell], present)}
        for metric in ROUNDS:
            yield {**about, "metric": metric, **judged(found.get(metric), (), bool(cell.entries), table)}
