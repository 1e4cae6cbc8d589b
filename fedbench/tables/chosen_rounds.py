"""Which round a figure was read in, and the rows whose round lies at an end of what was evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fedbench.configuration.table import Row, TableFile
from fedbench.stats.cells import Cell
from fedbench.stats.selection import Selected, select
from fedbench.tables.places import where

AT_THE_START = (
    "Chosen at the first evaluation in most seeds: {rows}. No later round was better in validation; in round 1 a "
    "client that is evaluated after its local steps has received nothing from others."
)
AT_THE_END = (
    "Chosen at the end of the budget in most seeds: {rows}. No earlier round was better in validation, and later ones "
    "may be better still."
)


def beside_rounds(table: TableFile, cell: Cell) -> dict[str, Any]:
    """Return the columns `ROUND_COLUMNS` of a cell in a table of one figure; nothing where no metric chooses rounds.

    Raises:
        RecordError: the figures can't be read off the records.
    """
    if not (table.chooses_rounds and cell.entries):
        return {}
    chosen = select(cell.records, table.metric)
    rounds = ";".join(map(str, chosen.rounds))
    return {
        "selected_rounds": rounds,
        "first_evaluated": chosen.evaluated[0],
        "last_evaluated": chosen.evaluated[-1],
    }


def round_notes(table: TableFile, cells: Sequence[Cell], labels: Mapping[Row, str]) -> list[str]:
    """Return the sentences about rows whose round was the first or the last one evaluated.

    A cell with one evaluation alone has nothing to choose, and isn't named.
    """
    if not table.chooses_rounds:
        return []
    chosen = [(cell, select(cell.records, table.metric)) for cell in cells if cell.entries]
    trained = [(cell, found) for cell, found in chosen if len(found.evaluated) > 1]
    return list(_sentences(trained, labels))


def _sentences(chosen: Sequence[tuple[Cell, Selected]], labels: Mapping[Row, str]) -> Iterator[str]:
    for text, end in ((AT_THE_START, 0), (AT_THE_END, -1)):
        marked = [(cell, _mostly_at(found, end)) for cell, found in chosen]
        rows = [named for row, label in labels.items() if (named := where(row, label, marked))]
        if rows:
            yield text.format(rows="; ".join(rows))


def _mostly_at(found: Selected, end: int) -> bool:
    """Tell whether more than half of the seeds chose the first (0) or the last (-1) evaluated round."""
    there = sum(round == found.evaluated[end] for round in found.rounds)
    return 2 * there > len(found.rounds)
