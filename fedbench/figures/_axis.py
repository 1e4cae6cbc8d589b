"""Numeric settings in which a table's rows differ: the axes of `sweep` and `grid`."""

from __future__ import annotations

from typing import Any, TypeVar

from fedbench.configuration.table_parts import Sweep
from fedbench.errors import ConfigurationError
from fedbench.figures._scene import Scene
from fedbench.stats.cells import Cell

Asked = TypeVar("Asked")


def required(found: Asked | None, key: str, scene: Scene) -> Asked:
    """Return what a figure needs of the table's file.

    Raises:
        ConfigurationError: the file hasn't the key.
    """
    if not found:
        raise ConfigurationError(
            f"draw '{scene.table.title}'",
            found=f"no key '{key}' in the table's file",
            remedy=f"add '{key}' (fedbench/configuration/table.py), or draw a table that has it",
        )
    return found


def place_of(cell: Cell, axis: Sweep) -> float | None:
    """Return where a run lies on an axis: what its record's settings say, else what the table's file says.

    None: neither says, or the axis leaves its row out, so the run is a level. On a logarithmic axis so is one at 0.
    """
    if axis.rows is not None and cell.row.name not in axis.rows:
        return None
    value = _setting(cell.records[0].header.settings, axis.setting.split("."))
    place = axis.values.get(cell.row.name) if value is None else float(value)
    return None if axis.log and place is not None and place <= 0 else place


def _setting(settings: Any, path: list[str]) -> Any:
    for part in path:
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings
