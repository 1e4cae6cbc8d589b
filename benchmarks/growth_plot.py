"""Plot of growth: time and memory a round against clients and nodes per client, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, StrMethodFormatter

STYLES = {"fedavg": ("#0072B2", "o", "-"), "fedpub": ("#D55E00", "s", "--"), "fedaux": ("#009E73", "^", ":")}
PANELS = (("round_ms", "CPU ms a round"), ("peak_mb", "peak memory of the process, MB"))


class Measured(Protocol):
    """One measured size."""

    method: str
    axis: str
    size: int


def draw(points: Sequence[Measured], folder: Path) -> None:
    """Write growth.pdf and growth.png."""
    axes_names = list(dict.fromkeys(point.axis for point in points))
    figure, grid = plt.subplots(2, len(axes_names), figsize=(4.2 * len(axes_names), 6.4), squeeze=False)
    for row, (value, label) in zip(grid, PANELS, strict=True):
        for panel, axis in zip(row, axes_names, strict=True):
            _panel(panel, [point for point in points if point.axis == axis], value)
            panel.set(xlabel=axis, ylabel=label)
    grid[0][0].legend(frameon=False)
    figure.tight_layout()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "growth.pdf", metadata={"CreationDate": None})
    figure.savefig(folder / "growth.png", dpi=150)
    plt.close(figure)


def _panel(panel: Axes, points: Sequence[Measured], value: str) -> None:
    for method, (colour, marker, line) in STYLES.items():
        mine = [point for point in points if point.method == method]
        sizes, values = [point.size for point in mine], [getattr(point, value) for point in mine]
        panel.plot(sizes, values, line, color=colour, marker=marker, label=method)
    panel.set(xscale="log", yscale="log")
    for side in (panel.xaxis, panel.yaxis):
        side.set_major_locator(LogLocator(subs=(1, 2, 5)))
        side.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        side.set_minor_formatter("")
    panel.set_xticks(sorted({point.size for point in points}))
    panel.grid(True, which="major", color="0.9")
