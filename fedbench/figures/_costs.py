"""Accuracy against a cost that grows with the rounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedbench.figures._panels import draw_level, draw_line, frame_rows, legend, name_axes, small_multiples, styles
from fedbench.figures._scene import Scene
from fedbench.figures._style import LineStyle
from fedbench.records.schema import SeedCost
from fedbench.stats.cells import Cell
from fedbench.stats.curve import as_read, curve
from fedbench.stats.measures import rounds_of

Cost = Callable[[SeedCost], float]
# Left edge of a panel, as a share of the cheapest method's cost: before it every method is still at the start.
EARLIEST = 0.05


def accuracy_against(scene: Scene, cost: Cost, label: str) -> Figure:
    """Return small multiples of accuracy by accumulated cost (logarithmic).

    A run's cost is spread evenly over its rounds. A method without cost is a horizontal line at its accuracy; one
    whose records state no costs is left out.

    Args:
        scene: gives cells and panels.
        cost: total of one seed, in the unit of ``label``.
        label: of the x axis.
    """
    chosen = styles(scene)

    def panel(axes: Axes, dataset: str, partition: str) -> None:
        axes.set_xscale("log")
        costs = [_draw(axes, cell, scene, cost, chosen[cell.row]) for cell in scene.cells_in(dataset, partition)]
        if any(costs):
            axes.set_xlim(left=EARLIEST * min(total for total in costs if total))

    figure = small_multiples(scene, panel, sharex="none")
    frame_rows(figure, scene)
    name_axes(figure, label, f"{scene.table.metric.name} ({scene.table.metric.unit})")
    legend(figure, scene, chosen)
    return figure


def _draw(axes: Axes, cell: Cell, scene: Scene, cost: Cost, style: LineStyle) -> float:
    """Draw one method and return its cost at the end (0: none, or not stated)."""
    costs = [cost(stated) for record in cell.records for stated in record.header.costs]
    total = float(np.mean(costs)) if costs else 0.0
    metric = scene.table.metric
    if total:
        found = as_read(curve(cell.records, metric.name, metric.split), metric)
        x = total / rounds_of(cell.records[0]) * np.array(found.rounds)
        draw_line(axes, x, metric.scale * found.values, style, scene.table.rows.index(cell.row))
    elif costs:
        draw_level(axes, scene.ends[cell.run], style)
    return total
