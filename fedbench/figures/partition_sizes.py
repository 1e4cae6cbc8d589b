"""Partition sizes: how many nodes (graphs, pairs) each client has to train, validate and test on."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from fedbench.figures._members import members_of
from fedbench.figures._panels import name_axes, small_multiples
from fedbench.figures._scene import Scene

TITLE = "Partition sizes"
CAPTION = "Nodes (graphs, pairs of users and items) per client, by split. Clients in the order of the partition file."
NEEDS = "partitions"
# Splits by their code in the partition file: name, shade, hatch.
SPLITS = (("train", "#333333", ""), ("val", "#56B4E9", "///"), ("test", "#DDDDDD", ""), ("unused", "#FFFFFF", "..."))


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition, one stacked bar a client."""
    used: set[int] = set()
    kinds: dict[str, None] = {}

    def panel(axes: Axes, dataset: str, partition: str) -> None:
        if scene.left_out(dataset, partition):
            return
        members = members_of(scene, dataset, partition)
        bars(axes, counts_by_split(members.client, members.split))
        used.update(np.unique(members.split).tolist())
        kinds[members.what] = None

    figure = small_multiples(scene, panel, sharex="col")
    name_axes(figure, "client", ", ".join(kinds))
    handles = [Patch(label=SPLITS[code][0], **_paint(code)) for code in sorted(used)]
    figure.legend(handles=handles, loc="outside right center")
    return figure


def counts_by_split(client: np.ndarray, split: np.ndarray) -> np.ndarray:
    """Return int64[splits, clients]: the nodes of each client in each split."""
    counts = np.zeros((len(SPLITS), int(client.max()) + 1), dtype=np.int64)
    np.add.at(counts, (split, client), 1)
    return counts


def bars(axes: Axes, counts: np.ndarray) -> None:
    """Draw one stacked bar a client."""
    below = np.zeros(counts.shape[1], dtype=np.int64)
    for code, height in enumerate(counts):
        if height.any():
            axes.bar(np.arange(len(height)), height, bottom=below, width=0.8, **_paint(code))
            below = below + height
    axes.grid(visible=False, axis="x")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))


def _paint(code: int) -> dict[str, Any]:
    _, shade, hatch = SPLITS[code]
    return {"facecolor": shade, "hatch": hatch, "edgecolor": "#333333", "linewidth": 0.4}
