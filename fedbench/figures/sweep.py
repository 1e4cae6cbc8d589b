"""Accuracy against a numeric setting of a method, other methods as levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedbench.configuration.method import load_method_file
from fedbench.configuration.table import Row
from fedbench.configuration.table_parts import Sweep
from fedbench.figures._axis import place_of, required
from fedbench.figures._panels import (
    AXIS_NAMES,
    HEIGHT,
    LEGEND,
    WIDTH,
    draw_level,
    handle,
    name_axes,
    name_panel,
    small_multiples,
)
from fedbench.figures._scene import Scene
from fedbench.figures._style import LineStyle, line_style
from fedbench.stats.cells import Cell
from fedbench.stats.measures import selected_values

TITLE = "Accuracy over a setting"
CAPTION = (
    "The table's figure against a setting of the method: mean and standard deviation over seeds. Rows without that "
    "setting are horizontal lines."
)
NEEDS = "sweep"


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition (and setting, of several), one line a swept method.

    Raises:
        ConfigurationError: the table's file has no key ``sweep``.
    """
    sweeps = required(scene.table.sweep, "sweep", scene)
    places = {cell.run: [place_of(cell, axis) for axis in sweeps] for cell in scene.cells}
    placed = [cell for cell in scene.cells if any(place is not None for place in places[cell.run])]
    swept = list(dict.fromkeys(cell.run.method for cell in placed))
    levels = list(dict.fromkeys(cell.row for cell in scene.cells if cell not in placed))
    names: list[str | Row] = [*swept, *levels]
    chosen = {name: line_style(place) for place, name in enumerate(names)}

    def panel(axes: Axes, dataset: str, partition: str, number: int = 0) -> None:
        axes.set_xscale("log" if sweeps[number].log else "linear")
        cells = scene.cells_in(dataset, partition)
        for method in swept:
            mine = [(places[cell.run][number], cell) for cell in cells if cell.run.method == method]
            draw_points(axes, [(at, cell) for at, cell in mine if at is not None], scene, chosen[method])
        for cell in (cell for cell in cells if cell not in placed):
            draw_level(axes, scene.ends[cell.run], chosen[cell.row])
        _leave_room(axes)

    figure = small_multiples(scene, panel) if len(sweeps) == 1 else _several(scene, sweeps, panel)
    across = sweeps[0].label if len(sweeps) == 1 else ""
    name_axes(figure, across, f"{scene.table.metric.name} ({scene.table.metric.unit})")
    labels = {name: load_method_file(name, scene.configs).label for name in swept}
    handles = [handle(chosen[name], labels[name]) for name in swept]
    handles += [handle(chosen[row], scene.label(row)) for row in levels]
    figure.legend(handles=handles, loc="outside right center", handlelength=3.5)
    return figure


def _several(scene: Scene, sweeps: Sequence[Sweep], panel: Callable[..., None]) -> Figure:
    """Return a figure with a row a (data set, partition) and a column a setting."""
    rows = scene.table.columns
    figure = Figure(figsize=(WIDTH * len(sweeps) + LEGEND, HEIGHT * len(rows) + AXIS_NAMES), layout="constrained")
    grid = figure.subplots(len(rows), len(sweeps), sharex="col", sharey="row", squeeze=False)
    for line, place in zip(grid, rows, strict=True):
        for number, (axes, axis) in enumerate(zip(line, sweeps, strict=True)):
            panel(axes, *place, number)
            name_panel(axes, place)
            if place == rows[-1]:
                axes.set_xlabel(axis.label)
    return figure


def _leave_room(axes: Axes) -> None:
    """Widen a logarithmic axis with a single point on it, whose limits would be that point."""
    low, high = axes.get_xlim()
    if axes.get_xscale() == "log" and high < 1.01 * low:
        axes.set_xlim(low / 2, 2 * high)


def draw_points(axes: Axes, points: list[tuple[float, Cell]], scene: Scene, style: LineStyle) -> None:
    """Draw one method's runs in the order of the setting, with bars of one standard deviation over seeds."""
    if not points:
        return
    ordered = sorted(points, key=lambda point: point[0])
    values = [np.array(list(selected_values(cell.records, scene.table.metric).values())) for _, cell in ordered]
    axes.errorbar(
        [at for at, _ in ordered],
        [each.mean() for each in values],
        yerr=[each.std() for each in values],
        color=style.colour,
        linestyle=style.dashes,
        marker=style.marker,
        markersize=4,
        capsize=2,
    )
