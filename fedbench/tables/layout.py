"""Lay the tidy frame out like the paper: methods down, data sets and partitions across."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd

from fedbench.configuration.table import Row, TableFile
from fedbench.partition.name import parse_name
from fedbench.stats.measures import metrics_of
from fedbench.stats.verdict import NOT_RUN
from fedbench.tables.cell_view import cell_view
from fedbench.tables.marks import marks
from fedbench.tables.paired import OVERALL
from fedbench.tables.tidy import Column, columns_of, row_of, usual_seeds
from fedbench.tables.units import Unit, unit_of
from fedbench.tables.view import Block, Panel, RowView

WIDEST = 9
Figures = dict[str, Any]


def blocks_of(
    table: TableFile,
    frame: pd.DataFrame,
    labels: Mapping[Row, str],
    datasets: Mapping[str, str],
    foot: Sequence[tuple[str, Mapping[Column, str]]],
    figures: int = 1,
) -> list[Block]:
    """Return the printed table's blocks, each at most nine columns wide unless one data set needs more.

    Args:
        table: the table as the suite builds it, with one figure.
        frame: its tidy form.
        labels: row names.
        datasets: names of data sets as printed; a missing one is printed as it is.
        foot: rows below the methods, their text by column.
        figures: how many such blocks will stand side by side (`fedbench.tables.beside`).
    """
    panels = [_panel(table, frame, metric, labels) for metric in metrics_of(table.kind, table.metric)]
    places = {column: place for place, column in enumerate(columns_of(table))}
    most = max(len(table.partitions_in(dataset)) for dataset in table.datasets)
    step = max(1, WIDEST // (most * figures))
    groups = [table.datasets[start : start + step] for start in range(0, len(table.datasets), step)]
    chosen = [[column for column in places if column[0] in group] for group in groups]
    chosen[-1] += [column for column in places if column == OVERALL]
    return [_block(table, columns, places, panels, datasets, foot) for columns in chosen]


def _block(
    table: TableFile,
    columns: Sequence[Column],
    places: Mapping[Column, int],
    panels: Sequence[Panel],
    datasets: Mapping[str, str],
    foot: Sequence[tuple[str, Mapping[Column, str]]],
) -> Block:
    kept, names = [places[column] for column in columns], {OVERALL[0]: "All columns", **datasets}
    return Block(
        datasets=tuple((names.get(name, name), len(list(group))) for name, group in groupby(d for d, _ in columns)),
        partitions=tuple(_partition_heading(column, table) for column in columns),
        panels=tuple(_narrowed(panel, kept) for panel in panels),
        foot=tuple((label, tuple(texts.get(column, "--") for column in columns)) for label, texts in foot),
    )


def _narrowed(panel: Panel, kept: Sequence[int]) -> Panel:
    rows = (RowView(row.label, tuple(row.cells[place] for place in kept)) for row in panel.rows)
    return Panel(panel.heading, tuple(rows))


def _panel(table: TableFile, frame: pd.DataFrame, metric: str, labels: Mapping[Row, str]) -> Panel:
    unit = unit_of(metric, table)
    found = {row: row_of(frame, row, metric) for row in table.printed_rows}
    marked = {column: _marks(found, column, unit, table) for column in columns_of(table)}
    usual = usual_seeds(frame)
    rows = (
        RowView(
            labels[row], tuple(cell_view(cells[column], unit, marked[column][row], table, usual) for column in marked)
        )
        for row, cells in found.items()
    )
    return Panel(unit.heading, tuple(rows))


def _marks(found: Mapping[Row, dict[Column, Figures]], column: Column, unit: Unit, table: TableFile) -> dict[Row, str]:
    means = {row: math.nan if row == table.floor_row else cells[column]["mean"] for row, cells in found.items()}
    ranked = unit.ranked and not any(cells[column]["verdict"] == NOT_RUN for cells in found.values())
    return marks(means, unit.decimals, unit.better or table.metric.better) if ranked else dict.fromkeys(means, "")


def _partition_heading(column: Column, table: TableFile) -> str:
    """Return ``K = 5``, or the partition's name where K alone doesn't tell the table's partitions apart."""
    if column == OVERALL:
        return "mean"
    dataset, partition = column
    names = [parse_name(name) for name in table.partitions_in(dataset)]
    alike = len({name.scheme for name in names}) == 1 and len({name.clients for name in names}) == len(names)
    return f"K = {parse_name(partition).clients}" if alike else partition
