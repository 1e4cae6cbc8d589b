"""The figures of a table side by side, such as a metric by the items' popularity."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fedbench.configuration.table import Row
from fedbench.configuration.table_parts import Metric
from fedbench.figures._axis import required
from fedbench.figures._panels import HEIGHT, WIDTH, name_axes, small_multiples
from fedbench.figures._scene import Scene
from fedbench.figures._style import COLOURS, line_style
from fedbench.stats.cells import Cell
from fedbench.stats.measures import selected_values

TITLE = "Figures side by side"
CAPTION = (
    "Each figure of the table as a group of bars, one bar a method: mean over seeds, and one standard deviation. Scales"
    " start at zero and are shared by a data set's panels."
)
NEEDS = "further"
FULL = 0.84
HATCHES = ("", "///", "...", "xxx")


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition.

    Raises:
        ConfigurationError: the table's file has no key ``further``.
    """
    required(scene.table.further, "further", scene)
    metrics, rows = scene.table.metrics, scene.table.rows

    def panel(axes: Axes, dataset: str, partition: str) -> None:
        for cell in scene.cells_in(dataset, partition):
            draw_row(axes, cell, metrics, rows)
        axes.set_xticks(np.arange(len(metrics)), [metric.heading for metric in metrics])
        axes.grid(visible=False, axis="x")

    figure = small_multiples(scene, panel, sharex="none", size=(2 * WIDTH, 1.4 * HEIGHT))
    name_axes(figure, up=f"{scene.table.metric.name} ({scene.table.metric.unit})")
    drawn = [row for row in rows if any(cell.row == row for cell in scene.cells)]
    handles = [Patch(label=scene.label(row), **_paint(rows.index(row))) for row in drawn]
    figure.legend(handles=handles, loc="outside right center")
    return figure


def draw_row(axes: Axes, cell: Cell, metrics: tuple[Metric, ...], rows: tuple[Row, ...]) -> None:
    """Draw one method's bars, at its place in every group."""
    values = [np.array(list(selected_values(cell.records, metric).values())) for metric in metrics]
    width, place = FULL / len(rows), rows.index(cell.row)
    axes.bar(
        np.arange(len(metrics)) + (place + 0.5) * width - FULL / 2,
        [each.mean() for each in values],
        width,
        yerr=[each.std() for each in values],
        error_kw={"linewidth": 0.6},
        **_paint(place),
    )


def _paint(place: int) -> dict[str, Any]:
    """Return a method's colour, and from the ninth on a hatch too."""
    hatch = HATCHES[place // len(COLOURS) % len(HATCHES)]
    return {"facecolor": line_style(place).colour, "hatch": hatch, "edgecolor": "#333333", "linewidth": 0.3}
