"""A heat map over two settings, the published one below ours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from fedbench.configuration.run import RunName
from fedbench.configuration.table_parts import Grid
from fedbench.figures._axis import place_of, required
from fedbench.figures._panels import AXIS_NAMES, HEIGHT, LEGEND, WIDTH, grid_of, name_axes, panels_of
from fedbench.figures._scene import Scene
from fedbench.stats.cells import Cell

TITLE = "Two settings"
CAPTION = "The table's figure over two settings, mean over seeds; published figures below ours, on the same scale."
NEEDS = "grid"


def draw(scene: Scene) -> Figure:
    """Return the figure: panels as `grid_of` has them, below each row of ours one of published figures.

    Raises:
        ConfigurationError: the table's file has no key ``grid``.
    """
    grid = required(scene.table.grid, "grid", scene)
    found = {"here": scene.ends, "published": scene.published}
    shown = {title: values for title, values in found.items() if values}
    rows = [(places, title) for places in grid_of(scene.table) for title in shown]
    size = (WIDTH * len(rows[0][0]) + LEGEND, HEIGHT * len(rows) + AXIS_NAMES)
    figure = Figure(figsize=size, layout="constrained")
    panels = panels_of(figure, [places for places, _ in rows])
    low, high = (edge(value for values in shown.values() for value in values.values()) for edge in (min, max))
    for (_, title), line in zip(rows, panels, strict=True):
        for axes, place in line:
            table = over_settings(scene.cells_in(*place), grid, shown[title])
            sns.heatmap(table, ax=axes, vmin=low, vmax=high, cmap="cividis", cbar=False, annot=True, fmt=".1f")
            axes.set(title=", ".join((*place, title)), xlabel="", ylabel="")
            axes.tick_params(length=0)
    name_axes(figure, grid.across.label, grid.down.label)
    label = f"{scene.table.metric.name} ({scene.table.metric.unit})"
    figure.colorbar(figure.axes[0].collections[0], ax=figure.axes, label=label, shrink=0.6)
    return figure


def over_settings(cells: list[Cell], grid: Grid, values: Mapping[RunName, float]) -> pd.DataFrame:
    """Return the figures by the two settings, ascending; NaN where no run has both, or where there is no figure."""
    points = [(place_of(cell, grid.down), place_of(cell, grid.across), cell) for cell in cells]
    known = [(down, across, cell) for down, across, cell in points if down is not None and across is not None]
    rows = sorted({down for down, _, _ in known})
    columns = sorted({across for _, across, _ in known})
    table = pd.DataFrame(np.nan, index=pd.Index(rows), columns=pd.Index(columns))
    for down, across, cell in known:
        table.loc[down, across] = values.get(cell.run, np.nan)
    return table.rename(index="{:g}".format, columns="{:g}".format)
