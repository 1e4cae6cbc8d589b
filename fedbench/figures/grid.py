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
from fedbench.figures._panels import AXIS_NAMES, HEIGHT, LEGEND, WIDTH
from fedbench.figures._scene import Scene
from fedbench.stats.cells import Cell

TITLE = "Two settings"
CAPTION = "The table's figure over two settings, mean over seeds; published figures below ours, on the same scale."
NEEDS = "grid"


def draw(scene: Scene) -> Figure:
    """Return the figure: one column of panels a partition; a row of ours and one of published ones a data set.

    Raises:
        ConfigurationError: the table's file has no key ``grid``.
    """
    grid = required(scene.table.grid, "grid", scene)
    found = {"here": scene.ends, "published": scene.published}
    shown = {title: values for title, values in found.items() if values}
    rows = [(dataset, title) for dataset in scene.table.datasets for title in shown]
    columns = scene.table.partitions
    figure = Figure(figsize=(WIDTH * len(columns) + LEGEND, HEIGHT * len(rows) + AXIS_NAMES), layout="constrained")
    panels = figure.subplots(len(rows), len(columns), squeeze=False)
    low, high = (edge(value for values in shown.values() for value in values.values()) for edge in (min, max))
    for (dataset, title), line in zip(rows, panels, strict=True):
        for partition, axes in zip(columns, line, strict=True):
            table = grid_of(scene.cells_in(dataset, partition), grid, shown[title])
            sns.heatmap(table, ax=axes, vmin=low, vmax=high, cmap="cividis", cbar=False, annot=True, fmt=".1f")
            axes.set(title=f"{dataset}, {partition}, {title}", xlabel="", ylabel="")
            axes.tick_params(length=0)
    figure.supxlabel(grid.across.label)
    figure.supylabel(grid.down.label)
    label = f"{scene.table.metric.name} ({scene.table.metric.unit})"
    figure.colorbar(panels[0, 0].collections[0], ax=figure.axes, label=label, shrink=0.6)
    return figure


def grid_of(cells: list[Cell], grid: Grid, values: Mapping[RunName, float]) -> pd.DataFrame:
    """Return the figures by the two settings, ascending; NaN where no run has both, or where there is no figure."""
    points = [(place_of(cell, grid.down), place_of(cell, grid.across), cell) for cell in cells]
    known = [(down, across, cell) for down, across, cell in points if down is not None and across is not None]
    rows = sorted({down for down, _, _ in known})
    columns = sorted({across for _, across, _ in known})
    table = pd.DataFrame(np.nan, index=pd.Index(rows), columns=pd.Index(columns))
    for down, across, cell in known:
        table.loc[down, across] = values.get(cell.run, np.nan)
    return table.rename(index="{:g}".format, columns="{:g}".format)
