"""The tidy form of a table: one row a cell and figure. LaTeX, Markdown and report are made from it alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from fedbench.configuration.table import Row, TableFile
from fedbench.partition.name import parse_name
from fedbench.records.check import Present
from fedbench.stats.cells import Cell
from fedbench.stats.measures import measure, metrics_of
from fedbench.stats.summary import Summary
from fedbench.stats.verdict import NOT_RUN, verdict
from fedbench.tables.published import Figure, PublishedFigures

COLUMNS = [
    "dataset",
    "partition",
    "clients",
    "method",
    "metric",
    "mean",
    "std",
    "n_seeds",
    "published_mean",
    "published_std",
    "difference",
    "verdict",
    "records",
    "variant",
    "stale",
]
DECIMALS = 4
Column = tuple[str, str]


def tidy(table: TableFile, cells: Iterable[Cell], published: PublishedFigures, present: Present) -> pd.DataFrame:
    """Return the table's rows in reading order, with `COLUMNS`.

    Figures are rounded to four decimals before they are compared, so a reader can recompute every verdict from the CSV.

    Raises:
        RecordError: a figure can't be read off its records.
    """
    rows = [row for cell in cells for row in _rows(table, cell, published, present)]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"clients": "Int64"})


def csv_text(frame: pd.DataFrame) -> str:
    """Return the frame as CSV: four decimals, empty where there is no figure, ``\\n`` line ends."""
    return frame.to_csv(index=False, float_format=f"%.{DECIMALS}f", lineterminator="\n")


def _rows(table: TableFile, cell: Cell, published: PublishedFigures, present: Present) -> list[dict[str, Any]]:
    found = measure(table.kind, cell.records, table.metric) if cell.entries else {}
    about = {**_identity(cell), **_provenance(cell, present)}
    return [
        {
            **about,
            "metric": metric,
            **_figures(found.get(metric), _published(cell, metric, published), bool(cell.entries), table),
        }
        for metric in metrics_of(table.kind, table.metric)
    ]


def _published(cell: Cell, metric: str, published: PublishedFigures) -> Figure | None:
    return published.get(cell.run.dataset, cell.run.partition, cell.row.published, metric)


def _identity(cell: Cell) -> dict[str, Any]:
    run = cell.run
    clients = cell.entries[0].record.header.clients if cell.entries else parse_name(run.partition).clients
    return {**run.model_dump(exclude={"protocol"}), "clients": clients}


def _provenance(cell: Cell, present: Present) -> dict[str, str]:
    stale = {part: None for entry in cell.entries for part in present.stale(entry.record.header)}
    return {"records": ";".join(entry.reference for entry in cell.entries), "stale": ";".join(stale)}


def _figures(ours: Summary | None, theirs: Figure | None, was_run: bool, table: TableFile) -> dict[str, Any]:
    mean, std = (_rounded(ours.mean), _rounded(ours.std)) if ours else (math.nan, math.nan)
    difference = _rounded(mean - theirs.mean) if ours and theirs else None
    theirs_std = theirs.std if theirs else None
    judged = verdict(difference, std, theirs_std, table.reproduced_within) if was_run else NOT_RUN
    return {
        "mean": mean,
        "std": std,
        "n_seeds": ours.n if ours else 0,
        "published_mean": theirs.mean if theirs else None,
        "published_std": theirs_std,
        "difference": difference,
        "verdict": judged,
    }


def _rounded(value: float) -> float:
    return round(value, DECIMALS) + 0.0


def row_of(frame: pd.DataFrame, row: Row, metric: str) -> dict[Column, dict[str, Any]]:
    """Return one row of the printed table: its figures by column (data set, partition)."""
    chosen = (frame["method"] == row.method) & (frame["variant"] == row.variant) & (frame["metric"] == metric)
    cells = [{str(name): value for name, value in cell.items()} for cell in frame[chosen].to_dict("records")]
    return {(cell["dataset"], cell["partition"]): cell for cell in cells}


def columns_of(table: TableFile) -> list[Column]:
    """Return the columns (data set, partition) of the printed table."""
    return [(dataset, partition) for dataset in table.datasets for partition in table.partitions]
