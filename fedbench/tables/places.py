"""Naming rows of which something holds, with the data sets and partitions where it does."""

from __future__ import annotations

from collections.abc import Sequence

from fedbench.configuration.table import Row
from fedbench.stats.cells import Cell


def where(row: Row, label: str, marked: Sequence[tuple[Cell, bool]]) -> str:
    """Return a row's label, and in brackets where it holds if that isn't everywhere; "" where it holds nowhere.

    Args:
        row: the row.
        label: its name as printed.
        marked: cells of any rows, and whether it holds of them.
    """
    mine = [(cell.run, holds) for cell, holds in marked if cell.row == row]
    some = [run for run, holds in mine if holds]
    if len(some) == len(mine):
        return label if mine else ""
    sets = len({run.dataset for run, _ in mine}) > 1
    names = dict.fromkeys(f"{run.dataset}, {run.partition}" if sets else run.partition for run in some)
    return f"{label} ({'; '.join(names)})" if names else ""
