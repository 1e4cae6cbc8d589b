"""A plot of lines that no record is behind: what `fedbench theorems` draws."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from fedbench.figures._style import RC, line_style, save

Curves = Mapping[str, tuple[np.ndarray, np.ndarray]]


def write_curves(stem: Path, curves: Curves, axes: tuple[str, str]) -> list[Path]:
    """Write ``stem``.pdf and .png, both axes logarithmic; same lines, same bytes.

    Args:
        stem: where.
        curves: x and y of each line, by its name.
        axes: names of both axes.
    """
    with mpl.rc_context(RC):
        figure = Figure(figsize=(3.6, 2.6), layout="constrained")
        panel = figure.subplots()
        for place, (name, (x, y)) in enumerate(curves.items()):
            style = line_style(place)
            look = {"color": style.colour, "linestyle": style.dashes, "marker": style.marker, "markersize": 4}
            panel.loglog(x, y, label=name, **look)
        panel.set(xlabel=axes[0], ylabel=axes[1])
        panel.set_xticks(x, [f"{tick:g}" for tick in x])
        panel.minorticks_off()
        figure.legend(loc="outside lower center", ncols=2, handlelength=3.5)
        return save(figure, stem)
