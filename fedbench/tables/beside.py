"""Lay a table with several figures out: the figures of a column side by side, each marked and ranked by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypeVar

import pandas as pd

from fedbench.configuration.table import Row, TableFile
from fedbench.tables.foot import foot_rows
from fedbench.tables.layout import blocks_of
from fedbench.tables.view import Block, Panel, RowView

T = TypeVar("T")


def printed_blocks(
    table: TableFile, frame: pd.DataFrame, labels: Mapping[Row, str], datasets: Mapping[str, str]
) -> list[Block]:
    """Return the printed table's blocks; arguments as in `blocks_of`."""
    singles = table.by_figure()
    each = [blocks_of(one, frame, labels, datasets, foot_rows(one, frame), len(singles)) for one in singles]
    if len(singles) == 1:
        return each[0]
    headings = [one.metric.heading for one in singles]
    named = any(len(table.partitions_in(dataset)) > 1 for dataset in table.datasets)
    return [_beside(blocks, headings, named) for blocks in zip(*each, strict=True)]


def _beside(blocks: Sequence[Block], headings: Sequence[str], named: bool) -> Block:
    """Return blocks with the same columns and one panel each as one block.

    Args:
        blocks: one a figure.
        headings: of the figures.
        named: whether a column's heading needs its partition too.
    """
    first = blocks[0]
    columns = [f"{partition}, {text}" if named else text for partition in first.partitions for text in headings]
    return Block(
        datasets=tuple((dataset, span * len(blocks)) for dataset, span in first.datasets),
        partitions=tuple(columns),
        panels=(_one_panel([block.panels[0] for block in blocks]),),
        foot=_one_foot([block.foot for block in blocks], len(first.partitions)),
    )


def _one_panel(panels: Sequence[Panel]) -> Panel:
    rows = zip(*(panel.rows for panel in panels), strict=True)
    return Panel("", tuple(RowView(row[0].label, _in_turn([each.cells for each in row])) for row in rows))


def _one_foot(
    feet: Sequence[Sequence[tuple[str, tuple[str, ...]]]], columns: int
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the rows below; a figure without one has dashes there."""
    labels = dict.fromkeys(label for foot in feet for label, _ in foot)
    none = ("--",) * columns
    return tuple((label, _in_turn([dict(foot).get(label, none) for foot in feet])) for label in labels)


def _in_turn(rows: Sequence[Sequence[T]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(zip(*rows, strict=True)))
