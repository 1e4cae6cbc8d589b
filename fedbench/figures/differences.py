"""The rows of a table of paired differences around their baseline, in every column and over all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fedbench.configuration.table import Row
from fedbench.figures._axis import required
from fedbench.figures._scene import Scene
from fedbench.figures._style import COLOURS, MARKERS
from fedbench.stats.cells import Cell
from fedbench.stats.paired import PairedFigures, paired_figures

TITLE = "Differences to a baseline"
CAPTION = (
    "Each row minus the table's baseline, paired by seed: mean and Student's 95 % interval. A mark is a data set "
    "(colour) and partition (shape); the black diamond is the mean over all of them, where all were run."
)
NEEDS = "baseline"
WIDTH, PER_MARK = 6.5, 0.055
BAND = 0.75  # of the height between two rows, in which a row's marks are set apart
Column = tuple[str, str]


@dataclass(frozen=True)
class Mark:
    """What stands for a difference over ``columns``."""

    columns: tuple[Column, ...]
    label: str
    colour: str
    shape: str
    size: float = 3.5


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel, rows down, differences across.

    Raises:
        ConfigurationError: the table's file has no key ``baseline``.
    """
    required(scene.table.baseline, "baseline", scene)
    rows, marks = scene.table.printed_rows, _marks(scene)
    figure = Figure(figsize=(WIDTH, len(rows) * max(0.2, PER_MARK * len(marks)) + 0.5), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        for number, mark in enumerate(marks):
            found = difference(scene, row, mark.columns)
            if found:
                _draw_mark(axes, place + BAND * ((number + 0.5) / len(marks) - 0.5), found, mark)
    axes.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(rows)), [scene.label(row) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    base = scene.table.baseline_row
    axes.set_xlabel(
        f"{scene.table.metric.name} minus that of {scene.label(base) if base else '--'} ({scene.table.metric.step})"
    )
    figure.legend(handles=[_handle(mark) for mark in marks], loc="outside right center")
    return figure


def difference(scene: Scene, row: Row, columns: Sequence[Column]) -> PairedFigures | None:
    """Return a row minus the baseline, mean over some columns; None unless both were run in all of them."""
    ours, theirs = (_cells(scene, each, columns) for each in (row, scene.table.baseline_row))
    return paired_figures(ours, theirs, scene.table.metric) if ours and theirs else None


def _cells(scene: Scene, row: Row | None, columns: Sequence[Column]) -> list[Cell]:
    """Return a row's cells in some columns, or none if one wasn't run."""
    found = {(cell.run.dataset, cell.run.partition): cell for cell in scene.cells if cell.row == row}
    return [found[column] for column in columns] if all(column in found for column in columns) else []


def _marks(scene: Scene) -> list[Mark]:
    table, colours = scene.table, COLOURS[1:]
    marks = []
    for dataset, partition in table.columns:
        colour = colours[table.datasets.index(dataset) % len(colours)]
        shape = MARKERS[table.partitions_in(dataset).index(partition) % len(MARKERS)]
        marks.append(Mark(((dataset, partition),), f"{dataset}, {partition}", colour, shape))
    overall = Mark(table.columns, "mean of all", "black", "D", 5)
    return [*marks, overall] if len(marks) > 1 else marks


def _draw_mark(axes: Axes, at: float, found: PairedFigures, mark: Mark) -> None:
    axes.plot([found.low, found.high], [at, at], color=mark.colour, linewidth=0.9)
    axes.plot([found.difference.mean], [at], color=mark.colour, marker=mark.shape, markersize=mark.size)


def _handle(mark: Mark) -> Line2D:
    return Line2D(
        [], [], color=mark.colour, marker=mark.shape, markersize=mark.size, linestyle="none", label=mark.label
    )
