"""Figures, one module each, found by name.

A figure's module has ``TITLE``, ``CAPTION``, ``NEEDS`` and ``draw(scene) -> Figure``. ``NEEDS`` is what it is drawn
from: ``records`` or ``partitions``, which every table has, ``rec partitions`` (of users and items), or the key that the
table's file must have (``sweep``, ``grid``, ``diagnostics``); a suite names all but the first two, and their tables.
Modules whose names start with an underscore are shared parts.
"""
