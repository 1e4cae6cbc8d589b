"""Accuracy by round: how fast each method learns, and whether it is still climbing at the end."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedbench.figures._panels import draw_cell, frame_rows, legend, name_axes, small_multiples, styles
from fedbench.figures._scene import Scene

TITLE = "Accuracy by round"
CAPTION = (
    "Mean over clients of the table's test figure after each round; line: mean over seeds, band: one standard "
    "deviation. Where the table reads the mean over several last rounds, each point is such a mean. "
    "Methods with a single round are horizontal lines. Legend in order of accuracy. "
    "Low figures of early rounds lie below the frame."
)
NEEDS = "records"


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition, one line a method."""
    chosen = styles(scene)

    def panel(axes: Axes, dataset: str, partition: str) -> None:
        for cell in scene.cells_in(dataset, partition):
            draw_cell(axes, cell, scene, chosen[cell.row], lambda cell, found: np.array(found.rounds))

    figure = small_multiples(scene, panel)
    frame_rows(figure, scene)
    name_axes(figure, "round", f"{scene.table.metric.name} ({scene.table.metric.unit})")
    legend(figure, scene, chosen)
    return figure
