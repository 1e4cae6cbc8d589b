"""The lowest frequencies of clients' user-item graphs: do groups of clients differ?"""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedbench.figures._axis import required
from fedbench.figures._panels import handle, name_axes, small_multiples
from fedbench.figures._scene import Scene
from fedbench.figures._style import LineStyle, line_style
from fedbench.kernels.low_pass import low_pass
from fedbench.tasks.rec.arrays import load_rec

TITLE = "Laplacian spectra"
CAPTION = (
    "Eigenvalues of each client's normalised Laplacian (training pairs), ascending from the lowest; a line a client, "
    "alike for clients of a group. A line ends where a small client has no further eigenvalue under 1."
)
NEEDS = "spectra"
EVERYONE = "all clients"


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition.

    Raises:
        ConfigurationError: the table's file has no key ``spectra``.
        DataError: a partition or data set file is missing or damaged.
    """
    count = required(scene.table.spectra, "spectra", scene)
    chosen: dict[str, LineStyle] = {}

    def panel(axes: Axes, dataset: str, partition: str) -> None:
        if scene.left_out(dataset, partition):
            return
        for group, values in spectra_of(scene, dataset, partition, count):
            style = chosen.setdefault(group, line_style(len(chosen)))
            axes.plot(np.arange(1, len(values) + 1), values, color=style.colour, linestyle=style.dashes, linewidth=0.9)

    figure = small_multiples(scene, panel, sharey="all")
    name_axes(figure, "eigenvalue, from the lowest", "frequency")
    handles = [handle(style, group) for group, style in chosen.items()]
    figure.legend(handles=handles, loc="outside right center", handlelength=3.5)
    return figure


def spectra_of(scene: Scene, dataset: str, partition: str, count: int) -> list[tuple[str, np.ndarray]]:
    """Return every client's group and its ``count`` lowest frequencies under 1, float[f], ascending."""
    files = (scene.results / "datasets" / f"{dataset}.npz", scene.results / "partitions" / dataset / f"{partition}.npz")
    problem = load_rec(*files)
    groups = problem.partition.meta.get("group") or [EVERYONE] * problem.clients
    lowest = [
        low_pass([client.taken], count, torch.float32, torch.device("cpu")).frequencies[0].numpy()
        for client in problem.client_data
    ]
    return [(group, values[values < 1]) for group, values in zip(groups, lowest, strict=True)]
