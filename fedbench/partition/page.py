"""The layout that every task's report of a partition has: a heading, what is to be said, warnings, one row a client."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def page(
    heading: str, said: Iterable[str], warnings: Iterable[str], columns: Sequence[tuple[str, Sequence[str]]]
) -> str:
    """Return Markdown; ``columns`` are heads with one text a client."""
    heads, cells = zip(*columns, strict=True)
    lines = [
        f"# {heading}",
        "",
        *said,
        "",
        *(f"- Warning: {text}." for text in warnings),
        "",
        _row(heads),
        _row(["---:"] * len(heads)),
        *map(_row, zip(*cells, strict=True)),
    ]
    return "\n".join(lines) + "\n"


def measured(measures: dict[str, np.ndarray], form: str = ".4f") -> list[tuple[str, Sequence[str]]]:
    """Return measures with one value a client as columns of a page."""
    return [(name.replace("_", " "), [number(value, form) for value in values]) for name, values in measures.items()]


def number(value: np.generic, form: str = ".4f") -> str:
    """Return a count as it is, another figure in ``form``."""
    return format(float(value), form) if isinstance(value, np.floating) else str(value)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
