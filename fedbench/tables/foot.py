"""Rows below a table's methods: how well their order agrees with the published one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from fedbench.configuration.table import Row, TableFile
from fedbench.stats.ranking import RankCorrelation, rank_correlation
from fedbench.tables.tidy import Column, Figures, columns_of, row_of


def correlations(table: TableFile, frame: pd.DataFrame) -> dict[Column, RankCorrelation]:
    """Return the rank correlation with the paper by column, where there are at least three methods to rank.

    A published name counts once: its first row stands for it (of two variants, the one the table lists first).
    Whether higher or lower is better doesn't matter: both orders turn round.
    """
    first: dict[str, Row] = {}
    for row in table.rows:
        first.setdefault(str(row.published or ""), row)
    first.pop("", None)
    rows = [row_of(frame, row, table.metric.key) for row in first.values()]
    found = {column: _correlation(rows, column, table.published[0].title) for column in columns_of(table)}
    return {column: value for column, value in found.items() if value}


def foot_rows(table: TableFile, frame: pd.DataFrame) -> list[tuple[str, Mapping[Column, str]]]:
    """Return the rows below the methods: their label, and the text by column."""
    if not (table.published and table.kind == "figure"):
        return []
    found = correlations(table, frame)
    if not found:
        return []
    return [
        ("Spearman's rho", {column: f"{value.spearman:.2f} ({value.n})" for column, value in found.items()}),
        ("Kendall's tau", {column: f"{value.kendall:.2f} ({value.n})" for column, value in found.items()}),
    ]


def _correlation(rows: Sequence[Mapping[Column, Figures]], column: Column, source: str) -> RankCorrelation | None:
    """Return the correlation over rows with the first source's figure: an order across sources means nothing."""
    cells = [row[column] for row in rows if row[column].get("published_source", source) == source]
    pairs = [(cell["mean"], cell["published_mean"]) for cell in cells]
    known = [(ours, theirs) for ours, theirs in pairs if pd.notna(ours) and pd.notna(theirs)]
    return rank_correlation([ours for ours, _ in known], [theirs for _, theirs in known])
