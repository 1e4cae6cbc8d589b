"""Accuracy against computing time: what a CPU second buys."""

from __future__ import annotations

from matplotlib.figure import Figure

from fedbench.figures._costs import accuracy_against
from fedbench.figures._scene import Scene

TITLE = "Accuracy against training time"
CAPTION = (
    "Mean over clients of the table's test figure against the CPU seconds of training so far, all clients together; "
    "mean and standard deviation over seeds. Clock readings: two runs differ."
)
NEEDS = "records"


def draw(scene: Scene) -> Figure:
    """Return the figure: one panel a data set and partition, one line a method."""
    return accuracy_against(scene, lambda cost: cost.training_seconds, "CPU seconds of training, one seed")
