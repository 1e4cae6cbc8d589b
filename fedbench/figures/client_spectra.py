"""Spectra of clients' user-item graphs: how far do clients of several groups lie apart?"""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedbench.figures._panels import handle, small_multiples
from fedbench.figures._scene import Scene
from fedbench.figures._style import LineStyle, line_style
from fedbench.kernels.low_pass import low_pass
from fedbench.tasks.rec.arrays import ClientPairs, load_rec

TITLE = "Clients' spectra"
CAPTION = (
    "The 128 lowest eigenvalues of each client's normalised Laplacian, from its training pairs; those of 1 and above, "
    "which a small client reaches early, are left out. One line a client, one style a group."
)
NEEDS = "rec partitions"
COUNT = 128


def draw(scene: Scene) -> Figure:
    """Return the figure: a panel a data set and partition, a line a client.

    Raises:
        DataError: a file is missing, damaged, or not of the task ``rec``.
    """
    chosen: dict[str, LineStyle] = {}

    def panel(axes: Axes, dataset: str, partition: str) -> None:
        files = (
            scene.results / "datasets" / f"{dataset}.npz",
            scene.results / "partitions" / dataset / f"{partition}.npz",
        )
        problem = load_rec(*files)
        names = problem.partition.meta["group"] or [f"client {client}" for client in range(problem.clients)]
        for name, client in zip(names, problem.client_data, strict=True):
            style = chosen.setdefault(name, line_style(len(chosen)))
            values = eigenvalues(client)
            axes.plot(np.arange(1, len(values) + 1), values, color=style.colour, linestyle=style.dashes, alpha=0.8)

    figure = small_multiples(scene, panel, sharey="all")
    figure.supxlabel("place among the client's eigenvalues")
    figure.supylabel("eigenvalue")
    handles = [handle(style, name) for name, style in chosen.items()]
    figure.legend(handles=handles, loc="outside right center", handlelength=3.5)
    return figure


def eigenvalues(client: ClientPairs) -> np.ndarray:
    """Return a client's lowest eigenvalues, ascending, those under 1; none of a client without pairs."""
    if not client.taken.nnz:
        return np.empty(0)
    found = low_pass([client.taken], COUNT, torch.float32, torch.device("cpu")).frequencies[0].numpy()
    return np.asarray(found[found < 1].clip(min=0))
