"""Measured theorems as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from fedbench.theorems._catalogue import Measured
from fedbench.theorems._row import Row

COLUMNS = ("theorem", "claim", "statement", "setting", "measured", "relation", "claimed", "holds")
_NOISE = 1e-13  # below it a figure is rounding, which differs from one processor to the next


def _figure(value: float) -> str:
    return "0" if abs(value) < _NOISE else f"{value:.4g}"


def _fields(row: Row) -> list[str]:
    figures = [_figure(row.measured), row.relation, _figure(row.claimed)]
    return [row.theorem, row.claim, row.statement, row.setting, *figures, "yes" if row.holds else "no"]


def csv_text(theorems: Iterable[Measured]) -> str:
    """Return one line a row, with a header."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_fields(row) for theorem in theorems for row in theorem.rows)
    return stream.getvalue()


def markdown_text(theorems: Sequence[Measured]) -> str:
    """Return a page for people: one table a theorem, printed claims that fail in bold."""
    return "\n".join(["# Theorems as numbers", "", *(line for theorem in theorems for line in _section(theorem))])


def summary(theorem: Measured) -> str:
    """Return how many of a theorem's printed claims, and of all its rows, hold."""
    printed = [row for row in theorem.rows if row.statement == "printed"]
    held, held_printed = (sum(row.holds for row in rows) for rows in (theorem.rows, printed))
    return f"{held_printed} of {len(printed)} rows on printed claims hold, {held} of all {len(theorem.rows)}"


def _section(theorem: Measured) -> list[str]:
    header = COLUMNS[1:]
    rule = "|".join("---" for _ in header)
    rows = [_line(row) for row in theorem.rows]
    return [
        f"## {theorem.theorem}",
        "",
        theorem.says,
        "",
        f"{summary(theorem)}.",
        "",
        _joined(header),
        f"|{rule}|",
        *rows,
        "",
    ]


def _line(row: Row) -> str:
    *fields, holds = _fields(row)[1:]
    return _joined([*(field.replace("|", r"\|").replace("<", r"\<") for field in fields), _marked(row, holds)])


def _marked(row: Row, holds: str) -> str:
    return f"**{holds}**" if row.statement == "printed" and not row.holds else holds


def _joined(fields: Iterable[str]) -> str:
    return f"| {' | '.join(fields)} |"
