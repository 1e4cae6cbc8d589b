"""One look for all figures: colours that the colour-blind tell apart, and lines and marks that grey print keeps."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from matplotlib.figure import Figure

from fedbench.files import whole_file

# Okabe & Ito's palette; grey instead of its yellow, which white paper swallows.
COLOURS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#777777")
Dashes = Literal["-", "--", "-.", ":"]
DASHES: tuple[Dashes, ...] = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")
RC: Any = {
    "font.size": 8,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "pdf.fonttype": 42,
}
DPI = 200
# Neither form may hold the time or the machine.
METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"Creator": "fedbench", "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}


@dataclass(frozen=True)
class LineStyle:
    """How one method is drawn in every panel."""

    colour: str
    dashes: Dashes
    marker: str


def line_style(place: int) -> LineStyle:
    """Return the style of the method at ``place``; 32 styles differ, eight even in colour alone."""
    step = place // len(COLOURS)
    return LineStyle(COLOURS[place % len(COLOURS)], DASHES[(place + step) % len(DASHES)], MARKERS[place % len(MARKERS)])


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as PDF and PNG without timestamps, each whole or not at all."""
    paths = {suffix: stem.parent / f"{stem.name}.{suffix}" for suffix in METADATA}
    for suffix, path in paths.items():
        # Through memory: matplotlib's PDF writer hides a full disk behind an error of its own.
        image = BytesIO()
        figure.savefig(image, format=suffix, dpi=DPI, metadata=METADATA[suffix], bbox_inches="tight")
        with whole_file(path) as temporary:
            temporary.write_bytes(image.getvalue())
    return list(paths.values())
