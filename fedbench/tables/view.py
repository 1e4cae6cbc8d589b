"""What templates print: blocks of columns, panels of figures, rows of cells; all texts are plain."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CellView:
    """Texts of a printed cell; empty ones are not printed. ``mark`` is best, second or empty.

    ``lines`` are further texts below the value, by what they are, such as ``partitions``;
    ``also`` are the figures of further published sources, ``source`` the mark of the one compared with.
    """

    value: str
    spread: str = ""
    mark: str = ""
    published: str = ""
    published_spread: str = ""
    verdict: str = ""
    stale: bool = False
    lines: tuple[tuple[str, str], ...] = ()
    also: str = ""
    source: str = ""

    def line(self, title: str) -> str:
        """Return one of the further texts, or an empty one."""
        return dict(self.lines).get(title, "")


@dataclass(frozen=True)
class RowView:
    """A method's row."""

    label: str
    cells: tuple[CellView, ...]

    @property
    def judged(self) -> bool:
        """Return whether a published figure stands beside any of its cells."""
        return any(cell.published for cell in self.cells)

    @property
    def cited_twice(self) -> bool:
        """Return whether a second source's figure stands beside any of its cells."""
        return any(cell.also for cell in self.cells)

    @property
    def line_titles(self) -> list[str]:
        """Return what further texts its cells have, in order."""
        return list(dict.fromkeys(title for cell in self.cells for title, _ in cell.lines))


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
