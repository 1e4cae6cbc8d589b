"""What a row is called in tables and figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fedbench.configuration.method import label_of
from fedbench.configuration.table import Row
from fedbench.stats.cells import Cell


def label(row: Row, cells: Iterable[Cell], configs: Path) -> str:
    """Return a row's name: the method file's; for a method without one, what its records call it."""
    if not (configs / "methods" / f"{row.method}.yaml").exists():
        for cell in cells:
            if cell.row == row and cell.entries:
                return cell.entries[0].record.header.label
    return label_of(row.method, row.variant, configs)
