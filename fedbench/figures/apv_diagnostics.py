"""What FedAux's auxiliary vectors do by round: do they part, and does a client come to weigh itself more?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedbench.configuration.table import Row
from fedbench.figures._axis import required
from fedbench.figures._panels import AXIS_NAMES, HEIGHT, LEGEND, WIDTH, grid_of, handle, panels_of, styles
from fedbench.figures._scene import Scene
from fedbench.figures._style import LineStyle
from fedbench.stats.cells import Cell
from fedbench.stats.curve import has_figure, values_by_client

TITLE = "Auxiliary vectors by round"
CAPTION = (
    "By round: a client's mean cosine to the other clients' vectors (1: all alike) and its weight on itself in the "
    "server's mixing (dotted: equal weights). Line: mean over clients and seeds; band: from the lowest client to the "
    "highest, each averaged over seeds."
)
NEEDS = "diagnostics"
LABELS = {"apv_cosine": "cosine to others", "self_weight": "weight on itself"}
SPLIT = "none"


def draw(scene: Scene) -> Figure:
    """Return the figure: panels as `grid_of` has them, a row of them a diagnostic, and a line a method.

    Raises:
        ConfigurationError: the table's file has no key ``diagnostics``.
        RecordError: seeds have different rounds.
    """
    metrics = required(scene.table.diagnostics, "diagnostics", scene)
    rows = [(places, metric) for places in grid_of(scene.table) for metric in metrics]
    size = (WIDTH * len(rows[0][0]) + LEGEND, HEIGHT * len(rows) + AXIS_NAMES)
    figure = Figure(figsize=size, layout="constrained")
    panels = panels_of(figure, [places for places, _ in rows], sharex=True, sharey="row")
    chosen = styles(scene)
    drawn: set[Row] = set()
    for (_, metric), line in zip(rows, panels, strict=True):
        line[0][0].set_ylabel(LABELS.get(metric, metric))
        for axes, place in line:
            cells = [cell for cell in scene.cells_in(*place) if has_figure(cell.records, metric, SPLIT)]
            draw_panel(axes, cells, metric, chosen)
            axes.set_title(", ".join(place))
            axes.ticklabel_format(axis="y", useOffset=False)  # cosines of 0.9999 are written out
            drawn.update(cell.row for cell in cells)
    figure.supxlabel("round")
    handles = [handle(chosen[row], scene.label(row)) for row in scene.table.rows if row in drawn]
    figure.legend(handles=handles, loc="outside right center", handlelength=3.5)
    return figure


def draw_panel(axes: Axes, cells: list[Cell], metric: str, chosen: Mapping[Row, LineStyle]) -> None:
    """Draw one diagnostic of the methods that record it."""
    for cell in cells:
        rounds, values = values_by_client(cell.records, metric, SPLIT)
        _draw(axes, rounds, values, chosen[cell.row])
        if metric == "self_weight":
            axes.axhline(1 / values.shape[1], color="#777777", linestyle=":", linewidth=0.8)


def _draw(axes: Axes, rounds: np.ndarray, values: np.ndarray, style: LineStyle) -> None:
    mean = values.mean(axis=1)
    axes.plot(rounds, mean, color=style.colour, linestyle=style.dashes, marker=style.marker, markersize=3.5,
              markevery=max(1, len(rounds) // 5))  # fmt: skip
    axes.fill_between(rounds, values.min(axis=1), values.max(axis=1), color=style.colour, alpha=0.15, linewidth=0)
