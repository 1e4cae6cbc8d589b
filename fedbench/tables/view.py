"""What templates print: blocks of columns, panels of figures, rows of cells; all texts are plain."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CellView:
    """Texts of a printed cell; empty ones are not printed. ``mark`` is best, second or empty."""

    value: str
    spread: str = ""
    mark: str = ""
    published: str = ""
    published_spread: str = ""
    verdict: str = ""
    stale: bool = False


@dataclass(frozen=True)
class RowView:
    """A method's row."""

    label: str
    cells: tuple[CellView, ...]

    @property
    def judged(self) -> bool:
        """Return whether a published figure stands beside any of its cells."""
        return any(cell.published for cell in self.cells)


@dataclass(frozen=True)
class Panel:
    """All rows for one figure."""

    heading: str
    rows: tuple[RowView, ...]


@dataclass(frozen=True)
class Block:
    """As many whole data sets as fit beside each other."""

    datasets: tuple[tuple[str, int], ...]
    partitions: tuple[str, ...]
    panels: tuple[Panel, ...]
    foot: tuple[tuple[str, tuple[str, ...]], ...]
