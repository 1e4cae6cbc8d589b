"""Label skew: how each client's nodes or graphs spread over the classes."""

from __future__ import annotations

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedbench.figures._panels import name_axes, small_multiples
from fedbench.figures._scene import Scene

TITLE = "Label skew"
CAPTION = (
    "Share of each class among a client's nodes or graphs; dark: none, light: all. Even rows would mean no skew. "
    "Clients with data sets of their own share the numbers of classes, not their meaning."
)
NEEDS = "partitions"


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition, clients down, classes across."""

    def panel(axes: Axes, dataset: str, partition: str) -> None:
        if scene.left_out(dataset, partition):
            return
        client, label = scene.clients_and_labels(dataset, partition)
        heat_map(axes, class_shares(client, label))

    figure = small_multiples(scene, panel, sharex="none", sharey="none")
    name_axes(figure, "class", "client")
    drawn = [axes.collections[0] for axes in figure.axes if axes.collections]
    if drawn:
        figure.colorbar(drawn[0], ax=figure.axes, label="share of the client", shrink=0.6)
    return figure


def class_shares(client: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return float64[clients, classes]: each row sums to 1."""
    counts = np.zeros((int(client.max()) + 1, int(label.max()) + 1))
    np.add.at(counts, (client, label), 1)
    return counts / counts.sum(axis=1, keepdims=True)


def heat_map(axes: Axes, shares: np.ndarray) -> None:
    """Draw one row a client; `cividis` keeps its order in grey and for the colour-blind."""
    step = max(1, len(shares) // 5)
    sns.heatmap(shares, ax=axes, vmin=0, vmax=1, cmap="cividis", cbar=False, yticklabels=step, linewidths=0.3)
    axes.tick_params(length=0)
    axes.set_yticklabels(axes.get_yticklabels(), rotation=0)
