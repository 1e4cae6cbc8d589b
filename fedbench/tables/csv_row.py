"""The parts of one row of a table's CSV: which cell, our figure, the published one, the verdict, the records behind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fedbench.configuration.table import TableFile
from fedbench.partition.name import parse_name
from fedbench.records.check import Present
from fedbench.stats.cells import Cell
from fedbench.stats.measures import OVER_CLIENTS
from fedbench.stats.published import Figure
from fedbench.stats.summary import Summary
from fedbench.stats.verdict import NOT_RUN, verdict, with_partitions

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
PARTITION_COLUMNS = ["partition_mean", "partition_std", "partitions_n"]
SOURCE_COLUMNS = ["published_source", "also_published"]
PAIRED_COLUMNS = ["baseline", "wins", "low", "high"]
OVER_CLIENTS_COLUMNS = ["over_rounds", "mode", "ddof"]
ROUND_COLUMNS = ["selected_rounds", "first_evaluated", "last_evaluated"]
WEIGHTS_COLUMNS = ["weights_departed", "weights_low", "weights_high"]
DECIMALS = 4


def csv_columns(table: TableFile) -> list[str]:
    """Return `COLUMNS`, and what the table's kind, its other columns or several published sources add."""
    added = (
        (PARTITION_COLUMNS, table.partition_seeds > 1),
        (SOURCE_COLUMNS, len(table.published) > 1),
        (PAIRED_COLUMNS, table.kind == "paired"),
        (OVER_CLIENTS_COLUMNS, table.kind in OVER_CLIENTS),
        (ROUND_COLUMNS, table.chooses_rounds),
        (WEIGHTS_COLUMNS, table.weights is not None),
    )
    return [*COLUMNS, *(name for names, asked in added if asked for name in names)]


def identity(cell: Cell) -> dict[str, Any]:
    """Return which cell a row belongs to."""
    run = cell.run
    clients = cell.entries[0].record.header.clients if cell.entries else parse_name(run.partition).clients
    return {**run.model_dump(exclude={"protocol"}), "clients": clients}


def provenance(cells: Sequence[Cell], present: Present) -> dict[str, str]:
    """Return the records behind a row, and what of them is stale."""
    entries = [entry for cell in cells for entry in cell.all_entries]
    stale = {part: None for entry in entries for part in present.stale(entry.record.header)}
    return {"records": ";".join(entry.reference for entry in entries), "stale": ";".join(stale)}


def judged(ours: Summary | None, theirs: Sequence[Figure], was_run: bool, table: TableFile) -> dict[str, Any]:
    """Return our figure, the published one and the verdict.

    Args:
        ours: None if the records don't state it.
        theirs: published figures in order of preference: the first is compared with, the others are printed beside it.
        was_run: whether there are records.
        table: gives the tolerance and the sources' names.
    """
    mean, std = (rounded(ours.mean), rounded(ours.std)) if ours else (math.nan, math.nan)
    first = theirs[0] if theirs else None
    difference = rounded(mean - first.mean) if ours and first else None
    decimals = max(2, table.metric.decimals)
    text = verdict(difference, std, first.std if first else None, table.reproduced_within, decimals)
    return {
        "mean": mean,
        "std": std,
        "n_seeds": ours.n if ours else 0,
        "published_mean": first.mean if first else None,
        "published_std": first.std if first else None,
        "difference": difference,
        "verdict": text if was_run else NOT_RUN,
        "published_source": table.published[first.source].title if first else "",
        "also_published": "; ".join(_cited(figure, table) for figure in theirs[1:]),
    }


def beside_partitions(row: dict[str, Any], spread: Summary | None) -> dict[str, Any]:
    """Return the row with mean and deviation (of more than one) over partitions, and what they add to its verdict."""
    over = Summary(rounded(spread.mean), rounded(spread.std), spread.n) if spread else Summary(math.nan, math.nan, 0)
    deviation = over.std if over.n > 1 else math.nan
    return {
        **row,
        "verdict": with_partitions(row["verdict"], row["published_mean"], over),
        **dict(zip(PARTITION_COLUMNS, (over.mean, deviation, over.n), strict=True)),
    }


def rounded(value: float) -> float:
    """Return a figure as the CSV has it; minus zero becomes zero."""
    return round(value, DECIMALS) + 0.0


def _cited(figure: Figure, table: TableFile) -> str:
    texts = [f"{value:.{table.metric.decimals}f}" for value in (figure.mean, figure.std) if value is not None]
    return f"{' ± '.join(texts)} ({table.published[figure.source].title})"
