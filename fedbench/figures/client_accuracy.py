"""Accuracy of every client: whom a method serves, and whom it doesn't."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fedbench.configuration.table import Row
from fedbench.figures._panels import AXIS_NAMES, LEGEND, grid_of, handle, name_axes, name_panel, panels_of, styles
from fedbench.figures._scene import Scene
from fedbench.figures._style import LineStyle
from fedbench.files import read_arrays
from fedbench.partition.name import parse_name
from fedbench.stats.cells import Cell
from fedbench.stats.curve import by_client
from fedbench.stats.selection import last_rounds

TITLE = "Accuracy of every client"
CAPTION = (
    "Test accuracy of each client, mean over the last rounds that the table reads and over seeds; one mark a method. "
    "The vertical bar is the floor of the table, which learns nothing."
)
NEEDS = "clients"
WIDTH, PER_CLIENT = 3.0, 0.3
BAND = 0.7  # of the height between two clients, in which the methods' marks are set apart


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition, clients down, one mark a method.

    Raises:
        DataError: a partition file is missing or damaged.
    """
    grid, chosen = grid_of(scene.table), styles(scene)
    names = {place: client_names(scene, *place) for line in grid for place in line}
    heights = [PER_CLIENT * max(len(names[place]) for place in line) for line in grid]
    size = (WIDTH * len(grid[0]) + LEGEND, sum(heights) + AXIS_NAMES)
    figure = Figure(figsize=size, layout="constrained")
    for line in panels_of(figure, grid, gridspec_kw={"height_ratios": heights}):
        for panel, place in line:
            _panel(panel, scene, place, names[place])
    name_axes(figure, f"{scene.table.metric.name} ({scene.table.metric.unit})")
    drawn = dict.fromkeys(cell.row for cell in scene.cells)
    figure.legend(handles=[_handle(chosen, row, scene) for row in drawn], loc="outside right center")
    return figure


def client_names(scene: Scene, dataset: str, partition: str) -> list[str]:
    """Return what each client is called: its data set where each has one of its own, else its number."""
    if scene.left_out(dataset, partition):
        return [str(client) for client in range(parse_name(partition).clients)]
    _, meta = read_arrays(scene.results / "partitions" / dataset / f"{partition}.npz")
    members = list(meta.get("member", ()))
    numbers = [str(client) for client in range(int(meta["clients"]))]
    return members if members and len(set(members)) == len(members) else numbers


def client_means(cell: Cell, scene: Scene) -> np.ndarray:
    """Return each client's mean over the rounds read and seeds in the table's unit, float64[clients]."""
    metric = scene.table.metric
    _, rounds, values = by_client(cell.records, metric.name, metric.split)
    return np.asarray(metric.scale * values[:, last_rounds(rounds, metric.last)].mean(axis=(0, 1)))


def _panel(axes: Axes, scene: Scene, place: tuple[str, str], names: list[str]) -> None:
    rows, chosen = scene.table.rows, styles(scene)
    for cell in scene.cells_in(*place):
        means = client_means(cell, scene)
        at = np.arange(len(means))
        if cell.row == scene.table.floor_row:
            axes.vlines(means, at - 0.45, at + 0.45, color=chosen[cell.row].colour, linewidth=1.5)
        else:
            shift = BAND * (rows.index(cell.row) / max(1, len(rows) - 1) - 0.5)
            _dots(axes, means, at + shift, chosen[cell.row])
    name_panel(axes, place)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    for edge in range(1, len(names)):
        axes.axhline(edge - 0.5, color="#DDDDDD", linewidth=0.5)


def _dots(axes: Axes, x: np.ndarray, y: np.ndarray, style: LineStyle) -> None:
    axes.plot(x, y, color=style.colour, marker=style.marker, markersize=3, linestyle="none")


def _handle(chosen: dict[Row, LineStyle], row: Row, scene: Scene) -> Line2D:
    entry = handle(chosen[row], scene.label(row))
    entry.set_linestyle("none")
    if row == scene.table.floor_row:
        entry.set_marker("|")
    return entry
