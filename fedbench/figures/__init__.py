"""Figures, one module each, found by name.

A figure's module has ``TITLE``, ``CAPTION``, ``NEEDS`` (``records`` or ``partitions``: what it is drawn from) and
``draw(scene) -> Figure``. Modules whose names start with an underscore are shared parts.
"""
