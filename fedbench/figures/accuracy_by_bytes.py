"""Accuracy against communication: what a budget of bytes buys."""

from __future__ import annotations

from matplotlib.figure import Figure

from fedbench.figures._costs import accuracy_against
from fedbench.figures._scene import Scene

TITLE = "Accuracy against communication"
CAPTION = (
    "Mean over clients of the table's test figure against the bytes sent so far, up and down, all clients together; "
    "mean and standard deviation over seeds. Methods that send nothing are horizontal lines at the accuracy they reach."
)
NEEDS = "records"


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition, one line a method."""
    return accuracy_against(scene, lambda cost: (cost.bytes_up + cost.bytes_down) / 1e6, "MB sent, all clients")
