"""Accuracy against local steps: what a method reaches with the same number of gradient steps."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedbench.figures._panels import draw_cell, frame_rows, legend, name_axes, small_multiples, styles
from fedbench.figures._scene import Scene
from fedbench.figures._steps import steps_by_round

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
            draw_cell(axes, cell, scene, chosen[cell.row], lambda cell, found: steps_by_round(scene, cell) / 1000)

    figure = small_multiples(scene, panel, sharex="none")
    frame_rows(figure, scene)
    name_axes(figure, "thousand local steps, all clients", f"{scene.table.metric.name} ({scene.table.metric.unit})")
    legend(figure, scene, chosen)
    return figure
