"""Figures, one module each, found by name.

A figure's module has ``TITLE``, ``CAPTION``, ``NEEDS`` and ``draw(scene) -> Figure``. ``NEEDS`` is what it is drawn
from: ``records`` or ``partitions``, which every table has, the key that the table's file must have (``sweep``,
``grid``, ``diagnostics``, ...), or the kind of table that it is meant for (``clients``); a suite names the figures that
need more than records or partitions, and their tables. Modules whose names start with an underscore are shared parts.
"""

from __future__ import annotations

import pkgutil


def figure_names() -> list[str]:
    """Return the names of all figures, as the command line takes them; nothing that draws is imported."""
    modules = pkgutil.iter_modules(__path__)
    return sorted(module.name.replace("_", "-") for module in modules if not module.name.startswith("_"))
