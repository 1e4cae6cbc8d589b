"""What stands below a table: rank correlations, number of seeds, verdict counts, notes on methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fedbench.configuration.method import variant_of
from fedbench.configuration.table import Row, TableFile
from fedbench.stats.ranking import RankCorrelation, rank_correlation
from fedbench.stats.verdict import kind_of, rule_in_words
from fedbench.tables.tidy import Column, columns_of, row_of


def correlations(table: TableFile, frame: pd.DataFrame) -> dict[Column, RankCorrelation]:
    """Return the rank correlation with the paper by column, where there are at least three methods to rank.

    A published name counts once: its first row stands for it (of two variants, the one the table lists first).
    """
    first: dict[str, Row] = {}
    for row in table.rows:
        first.setdefault(row.published or "", row)
    first.pop("", None)
    rows = [row_of(frame, row, table.metric.name) for row in first.values()]
    found = {column: _correlation(rows, column) for column in columns_of(table)}
    return {column: value for column, value in found.items() if value}


def foot_rows(table: TableFile, frame: pd.DataFrame) -> list[tuple[str, Mapping[Column, str]]]:
    """Return the rows below the methods: their label, and the text by column."""
    if not _compared(table):
        return []
    found = correlations(table, frame)
    if not found:
        return []
    return [
        ("Spearman's rho", {column: f"{value.spearman:.2f} ({value.n})" for column, value in found.items()}),
        ("Kendall's tau", {column: f"{value.kendall:.2f} ({value.n})" for column, value in found.items()}),
    ]


def notes(table: TableFile, frame: pd.DataFrame, labels: Mapping[Row, str], configs: Path) -> list[str]:
    """Return the sentences below the table, in plain text."""
    return [*_about_figures(table, frame), *_about_methods(labels, configs)]


def _compared(table: TableFile) -> bool:
    return table.published is not None and table.kind == "accuracy"


def _about_figures(table: TableFile, frame: pd.DataFrame) -> list[str]:
    lines = [_seeds(frame)]
    if table.published and _compared(table):
        lines += [
            f"Below each cell: {table.published.paper}, {table.published.table}, and the verdict.",
            rule_in_words(table.reproduced_within, "points"),
            f"Verdicts here: {_counts(frame)}.",
            "Rank correlation: order of the methods here against the paper's, in brackets the number of methods; "
            "of two variants the first counts.",
        ]
    if table.measured:
        lines.append("Clock readings: two runs of the same settings differ.")
    if frame["stale"].any():
        parts = sorted({part for text in frame["stale"] for part in text.split(";") if part})
        lines.append(f"† made before a change of {' and '.join(parts)}; see `fedbench check`.")
    return lines


def _about_methods(labels: Mapping[Row, str], configs: Path) -> list[str]:
    found = {labels[row]: variant_of(row.method, row.variant, configs).note for row in labels}
    return [f"{label}: {' '.join(note.split()).rstrip('.')}." for label, note in found.items() if note]


def _seeds(frame: pd.DataFrame) -> str:
    numbers = sorted(set(frame.loc[frame["n_seeds"] > 0, "n_seeds"]))
    if not numbers:
        return "No cell has been run."
    return f"Seeds a cell: {numbers[0]}." if len(numbers) == 1 else f"Seeds a cell: {numbers[0]} to {numbers[-1]}."


def _counts(frame: pd.DataFrame) -> str:
    counts = Counter(kind_of(text) for text in frame["verdict"])
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


def _correlation(rows: Sequence[Mapping[Column, Mapping[str, Any]]], column: Column) -> RankCorrelation | None:
    pairs = [(row[column]["mean"], row[column]["published_mean"]) for row in rows]
    known = [(ours, theirs) for ours, theirs in pairs if pd.notna(ours) and pd.notna(theirs)]
    return rank_correlation([ours for ours, _ in known], [theirs for _, theirs in known])
