"""One row of the tidy frame as the texts of a printed cell."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fedbench.configuration.table import TableFile
from fedbench.stats.measures import OVER_CLIENTS
from fedbench.stats.verdict import NOT_PUBLISHED, NOT_RUN
from fedbench.tables.units import Unit
from fedbench.tables.view import CellView

Figures = dict[str, Any]
FIRST = {figures[0] for figures in OVER_CLIENTS.values()}


def cell_view(row: Figures, unit: Unit, mark: str, table: TableFile, usual_seeds: int) -> CellView:
    """Return the printed cell of a row of the tidy frame.

    It states its seeds where they aren't the usual number. One seed has no spread: 0 would say nothing.
    """
    was_judged = row["verdict"] not in (NOT_PUBLISHED, NOT_RUN)
    given = pd.notna(row["published_mean"])
    return CellView(
        value=NOT_RUN if row["verdict"] == NOT_RUN else _text(row["mean"], unit) or "--",
        spread=_deviation(row["std"], unit) if unit.spread and row["n_seeds"] != 1 else "",
        mark=mark,
        published=_text(row["published_mean"], unit) if given else "",
        published_spread=_deviation(row["published_std"], unit) if given else "",
        verdict=row["verdict"] if was_judged else "",
        stale=bool(row["stale"]),
        lines=(*_lines(row, unit), *_seeds(row, usual_seeds)),
        also=lettered(row.get("also_published", ""), table),
        source=lettered(f"({row['published_source']})", table) if row.get("published_source") else "",
    )


def letter(source: int) -> str:
    """Return the mark of a published source: a, b, ..."""
    return chr(ord("a") + source)


def lettered(text: str, table: TableFile) -> str:
    """Return the text with ``(<title of a published source>)`` replaced by its letter in brackets."""
    for place, source in enumerate(table.published):
        text = text.replace(f"({source.title})", f"[{letter(place)}]")
    return text


def _lines(row: Figures, unit: Unit) -> tuple[tuple[str, str], ...]:
    found = {title: make(row, unit) for title, (column, make) in LINES.items() if pd.notna(row.get(column))}
    return tuple((title, text) for title, text in found.items() if text)


def _partitions(row: Figures, unit: Unit) -> str:
    deviation = _deviation(row["partition_std"], unit)
    return f"{_text(row['partition_mean'], unit)}{f' ± {deviation}' if deviation else ''} ({row['partitions_n']})"


def _interval(row: Figures, unit: Unit) -> str:
    return f"[{_text(row['low'], unit)}, {_text(row['high'], unit)}]"


def _wins(row: Figures, unit: Unit) -> str:
    return f"{int(row['wins'])}/{row['n_seeds']}"


def _states_seeds(row: Figures, usual_seeds: int) -> bool:
    """Tell whether a cell says how many seeds it has; in tables over clients, whose settings cost unequally, all do."""
    return row["n_seeds"] > 0 and (pd.notna(row.get("mode")) or row["n_seeds"] != usual_seeds)


def _seeds(row: Figures, usual_seeds: int) -> tuple[tuple[str, str], ...]:
    return (("seeds", str(row["n_seeds"])),) if _states_seeds(row, usual_seeds) else ()


def _departed(row: Figures, unit: Unit) -> str:
    if row["metric"] not in FIRST:  # once a cell, in the first panel of its table
        return ""
    return f"{row['weights_departed']}, {row['weights_low']:.2f} to {row['weights_high']:.2f} of 1/K"


# What stands below a value, by title: the column that must be filled, and how it is printed.
LINES = {
    "partitions": ("partition_mean", _partitions),
    "95 % interval": ("low", _interval),
    "better": ("wins", _wins),
    "w departed from uniform": ("weights_departed", _departed),
}


def _text(value: float, unit: Unit) -> str:
    return unit.text(value) if pd.notna(value) else ""


def _deviation(value: float, unit: Unit) -> str:
    return unit.unsigned(value) if pd.notna(value) else ""
