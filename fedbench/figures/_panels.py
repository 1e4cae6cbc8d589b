"""Small multiples: one panel a data set and partition, and one legend in order of accuracy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fedbench.configuration.table import Row, TableFile
from fedbench.figures._scene import Scene
from fedbench.figures._style import LineStyle, line_style
from fedbench.stats.cells import Cell
from fedbench.stats.curve import Curve, as_read, curve

Places = Callable[[Cell, Curve], np.ndarray]

WIDTH, HEIGHT = 2.1, 1.8
LEGEND, AXIS_NAMES = 1.7, 0.5
FOOTROOM = 5.0
WRAPPED = 3
FITTING = 30
Share = Literal["none", "all", "row", "col"]
Place = tuple[str, str]
DrawPanel = Callable[[Axes, str, str], None]


def small_multiples(
    scene: Scene,
    draw: DrawPanel,
    sharex: Share = "all",
    sharey: Share = "row",
    size: tuple[float, float] = (WIDTH, HEIGHT),
) -> Figure:
    """Return a figure with one panel a (data set, partition), titled on top; see `grid_of`.

    Args:
        scene: gives data sets and partitions.
        draw: called with each panel's axes, data set and partition.
        sharex: as in `matplotlib.figure.Figure.subplots`.
        sharey: likewise; "row" only where a row of panels is one data set.
        size: width and height of a panel, inches.
    """
    grid = grid_of(scene.table)
    width, height = size[0] * len(grid[0]) + LEGEND, size[1] * len(grid) + AXIS_NAMES
    figure = Figure(figsize=(width, height), layout="constrained")
    if scene.table.partition_of and sharey == "row":
        sharey = "none"
    for panel, place in (each for line in panels_of(figure, grid, sharex=sharex, sharey=sharey) for each in line):
        draw(panel, *place)
        name_panel(panel, place)
    return figure


def name_panel(panel: Axes, place: Place) -> None:
    """Put what a drawn panel shows above it, in two lines if one would reach into the next panel."""
    between = ", " if len(place[0]) + len(place[1]) <= FITTING else ",\n"
    panel.set_title(between.join(place))
    if not panel.has_data():
        panel.text(0.5, 0.5, "not run", ha="center", va="center", color="0.6", transform=panel.transAxes)


def name_axes(figure: Figure, across: str = "", up: str = "") -> None:
    """Name the axes once for all panels; of a single panel at itself: the figure's middle may be below the legend."""
    if len(figure.axes) == 1:
        figure.axes[0].set(xlabel=across, ylabel=up)
        return
    if across:
        figure.supxlabel(across)
    if up:
        figure.supylabel(up)


def panels_of(figure: Figure, lines: Sequence[Sequence[Place]], **layout: Any) -> list[list[tuple[Axes, Place]]]:
    """Return each line's panels with what they show; panels that a shorter line leaves over are empty.

    Args:
        figure: where.
        lines: (data set, partition) of every panel, row by row, the first row the longest.
        layout: as in `matplotlib.figure.Figure.subplots`.
    """
    axes = figure.subplots(len(lines), len(lines[0]), squeeze=False, **layout)
    for row, line in zip(axes, lines, strict=True):
        for unused in row[len(line) :]:
            unused.set_axis_off()
    return [list(zip(row, line, strict=False)) for row, line in zip(axes, lines, strict=True)]


def grid_of(table: TableFile) -> list[list[Place]]:
    """Return the panels (data set, partition) row by row: data sets down and partitions across.

    Where data sets have partitions of their own, there is one panel each, in rows of three; the last may be shorter.
    """
    if not table.partition_of:
        return [[(dataset, partition) for partition in table.partitions] for dataset in table.datasets]
    places = list(table.columns)
    return [places[start : start + WRAPPED] for start in range(0, len(places), WRAPPED)]


def styles(scene: Scene) -> dict[Row, LineStyle]:
    """Return each row's style, the same in every figure of a table."""
    return {row: line_style(place) for place, row in enumerate(scene.table.rows)}


def legend(figure: Figure, scene: Scene, chosen: Mapping[Row, LineStyle]) -> None:
    """Put one legend at the right, best method (mean over panels) on top, as the lines end."""
    by_row: dict[Row, list[float]] = {}
    for cell in scene.cells:
        by_row.setdefault(cell.row, []).append(scene.ends[cell.run])
    ordered = sorted(by_row, key=lambda row: -float(np.mean(by_row[row])))
    handles = [handle(chosen[row], scene.label(row)) for row in ordered]
    figure.legend(handles=handles, loc="outside right center", handlelength=3.5)


def handle(style: LineStyle, label: str) -> Line2D:
    """Return a legend entry."""
    return Line2D([], [], color=style.colour, linestyle=style.dashes, marker=style.marker, markersize=4, label=label)


def draw_cell(panel: Axes, cell: Cell, scene: Scene, style: LineStyle, places: Places) -> None:
    """Draw a cell's figure over its rounds, at ``places(cell, curve)`` [rounds]; of a single round a level."""
    metric = scene.table.metric
    found = as_read(curve(cell.records, metric.name, metric.split), metric)
    if len(found.rounds) == 1:
        draw_level(panel, scene.ends[cell.run], style)
    else:
        draw_line(panel, places(cell, found), metric.scale * found.values, style, scene.table.rows.index(cell.row))


def draw_line(panel: Axes, x: np.ndarray, values: np.ndarray, style: LineStyle, place: int) -> None:
    """Draw the mean over seeds with a band of one standard deviation.

    Args:
        panel: where.
        x: float[rounds].
        values: float[seeds, rounds].
        style: the method's.
        place: the method's place; shifts its marks so that those of methods on top of each other stay apart.
    """
    mean, std = values.mean(axis=0), values.std(axis=0)
    step = max(1, len(x) // 5)
    panel.plot(x, mean, color=style.colour, linestyle=style.dashes, marker=style.marker, markersize=3.5,
               markevery=(place * step // 8, step))  # fmt: skip
    panel.fill_between(x, mean - std, mean + std, color=style.colour, alpha=0.15, linewidth=0)


def draw_level(panel: Axes, level: float, style: LineStyle) -> None:
    """Draw a method that has no course (no cost, or a single round): a horizontal line, its mark at the left edge."""
    panel.axhline(level, color=style.colour, linestyle=style.dashes, linewidth=0.9)
    at_edge = panel.get_yaxis_transform()
    panel.plot([0.02], [level], color=style.colour, marker=style.marker, markersize=4, transform=at_edge)


def frame_rows(figure: Figure, scene: Scene) -> None:
    """Bound panels to where a data set's methods end up; early rounds would flatten the differences that matter."""
    for (dataset, _), panel in zip(scene.table.columns, figure.axes, strict=False):
        ends = [value for run, value in scene.ends.items() if run.dataset == dataset]
        if ends:
            panel.set_ylim(bottom=max(panel.get_ylim()[0], min(ends) - FOOTROOM))
