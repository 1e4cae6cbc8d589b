"""Accuracy against local steps: what a method reaches with the same number of gradient steps."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedbench.figures._panels import draw_level, draw_line, frame_rows, legend, small_multiples, styles
from fedbench.figures._scene import Scene
from fedbench.figures._steps import steps_by_round
from fedbench.figures._style import LineStyle
from fedbench.stats.cells import Cell
from fedbench.stats.curve import as_read, curve

TITLE = "Accuracy against local steps"
CAPTION = (
    "Mean over clients of the test accuracy against the optimiser steps so far, all clients together; line: mean over "
    "seeds, band: one standard deviation, both of the mean over as many last rounds as the table reads. "
    "A method that takes more local epochs goes further to the right in the same rounds. "
    "Methods that train nothing are horizontal lines. Low figures of early rounds lie below the frame."
)
NEEDS = "clients"


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition, one line a method.

    Raises:
        DataError: a partition file is missing or damaged.
    """
    chosen = styles(scene)

    def panel(axes: Axes, dataset: str, partition: str) -> None:
        for cell in scene.cells_in(dataset, partition):
            _draw(axes, cell, scene, chosen[cell.row])

    figure = small_multiples(scene, panel, sharex="none")
    frame_rows(figure, scene)
    figure.supxlabel("thousand local steps, all clients")
    figure.supylabel(f"{scene.table.metric.name} ({scene.table.metric.unit})")
    legend(figure, scene, chosen)
    return figure


def _draw(axes: Axes, cell: Cell, scene: Scene, style: LineStyle) -> None:
    metric = scene.table.metric
    found = as_read(curve(cell.records, metric.name, metric.split), metric)
    if len(found.rounds) == 1:
        draw_level(axes, scene.ends[cell.run], style)
    else:
        place = scene.table.rows.index(cell.row)
        steps = steps_by_round(scene, cell)
        draw_line(axes, steps / 1000, metric.scale * found.values, style, place)
