"""Figures, one module each, found by name.

A figure's module has ``TITLE``, ``CAPTION``, ``NEEDS`` and ``draw(scene) -> Figure``. ``NEEDS`` is what it is drawn
from: ``records`` or ``partitions``, which every table has, or the key that the table's file must have (``sweep``,
``grid``, ``diagnostics``, ...); a suite names the latter figures and their tables. Modules whose names start with an
underscore are shared parts.
"""
