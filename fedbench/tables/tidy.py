"""The tidy form of a table: one row a cell and figure. LaTeX, Markdown and report are made from it alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fedbench.configuration.table import Row, TableFile
from fedbench.records.check import Present
from fedbench.stats.cells import Cell
from fedbench.stats.measures import measure, metrics_of
from fedbench.stats.published import PublishedFigures
from fedbench.stats.spread import over_partitions
from fedbench.tables.chosen_rounds import beside_rounds
from fedbench.tables.csv_row import DECIMALS, beside_partitions, csv_columns, identity, judged, provenance
from fedbench.tables.noniid import noniid_rows
from fedbench.tables.over_clients import beside_clients
from fedbench.tables.paired import OVERALL, has_overall, paired_rows
from fedbench.tables.rounds import rounds_rows

Column = tuple[str, str]
Figures = dict[str, Any]
# Whole numbers that may be missing, which would otherwise be printed with decimals.
COUNTS = ("clients", "wins", "over_rounds", "ddof", "first_evaluated", "last_evaluated")


@dataclass(frozen=True)
class Sources:
    """What the rows of a table are made from; a kind of table uses what it needs.

    Args:
        cells: the cells with their records.
        published: published figures.
        present: digests as they are now, for the column ``stale``.
        results: the folder with ``datasets`` and ``partitions``.
    """

    cells: Sequence[Cell]
    published: PublishedFigures
    present: Present
    results: Path


def tidy(table: TableFile, sources: Sources) -> pd.DataFrame:
    """Return the table's rows in reading order, with `csv_columns`.

    Figures are rounded to four decimals before they are compared, so a reader can recompute every verdict from the CSV.

    Raises:
        RecordError: a figure can't be read off its records.
        DataError: a partition or data set file that the table reads is missing or damaged.
    """
    rows = KINDS.get(table.kind, _figures)(table, sources)
    frame = pd.DataFrame(list(rows), columns=csv_columns(table))
    return frame.astype({name: "Int64" for name in COUNTS if name in frame})


def csv_text(frame: pd.DataFrame) -> str:
    """Return the frame as CSV: four decimals, empty where there is no figure, ``\\n`` line ends."""
    return frame.to_csv(index=False, float_format=f"%.{DECIMALS}f", lineterminator="\n")


def row_of(frame: pd.DataFrame, row: Row, metric: str) -> dict[Column, Figures]:
    """Return one row of the printed table: its figures by column (data set, partition)."""
    variant = frame["dataset"].map(row.variant_in)
    chosen = (frame["method"] == row.method) & (frame["variant"] == variant) & (frame["metric"] == metric)
    cells = [{str(name): value for name, value in cell.items()} for cell in frame[chosen].to_dict("records")]
    return {(cell["dataset"], cell["partition"]): cell for cell in cells}


def columns_of(table: TableFile) -> list[Column]:
    """Return the columns (data set, partition) of the printed table."""
    return [*table.columns, OVERALL] if has_overall(table) else list(table.columns)


def usual_seeds(frame: pd.DataFrame) -> int:
    """Return how many seeds most cells that were run have; 0 if none was. Of two numbers as frequent, the larger."""
    counts = frame.loc[frame["n_seeds"] > 0, "n_seeds"].value_counts()
    return int(max(counts[counts == counts.max()].index, default=0))


def _figures(table: TableFile, sources: Sources) -> Iterator[Figures]:
    for cell in sources.cells:
        about = {**identity(cell), **provenance([cell], sources.present), **beside_clients(table, cell)}
        for figure in table.by_figure():
            yield from (about | row for row in _of_figure(figure, cell, sources))


def _of_figure(table: TableFile, cell: Cell, sources: Sources) -> Iterator[Figures]:
    """Yield the rows of a cell in a table of one figure (or of one kind of costs)."""
    found = measure(table.kind, cell.records, table.metric) if cell.entries else {}
    for metric in metrics_of(table.kind, table.metric):
        theirs = sources.published.every(cell.run.dataset, cell.run.partition, cell.row.published, metric)
        row = {"metric": metric, **judged(found.get(metric), theirs, bool(cell.entries), table)}
        row |= beside_rounds(table, cell)
        yield _with_spread(row, cell, table)


def _with_spread(row: Figures, cell: Cell, table: TableFile) -> Figures:
    if table.partition_seeds == 1:
        return row
    return beside_partitions(row, over_partitions(cell, table.metric, table.partition_run_seeds))


def _paired(table: TableFile, sources: Sources) -> Iterator[Figures]:
    return paired_rows(table, sources.cells, sources.present)


def _rounds(table: TableFile, sources: Sources) -> Iterator[Figures]:
    return rounds_rows(table, sources.cells, sources.present)


def _noniid(table: TableFile, sources: Sources) -> Iterator[Figures]:
    return noniid_rows(table, sources.published, sources.results)


KINDS: dict[str, Callable[[TableFile, Sources], Iterator[Figures]]] = {
    "paired": _paired,
    "noniid": _noniid,
    "rounds": _rounds,
}
