"""The scale of the features that NeighGen sees.

The released code learns from the raw 0/1 words of Cora and CiteSeer; with normalised rows the same words are about 18
times smaller, and at the published learning rate and number of epochs NeighGen then predicts no neighbour at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from fedbench.tasks.node.arrays import ClientGraph


def as_given(graph: ClientGraph) -> tuple[ClientGraph, float]:
    """Return the graph as it is, and 1."""
    return graph, 1.0


def largest_one(graph: ClientGraph) -> tuple[ClientGraph, float]:
    """Return the graph with each row divided by its largest absolute entry, and what brings generated rows back.

    The way back is the mean divisor of the client: a generated row is then as long, on average, as real rows given are.
    """
    sizes = np.abs(graph.feature_values).astype(np.float64)
    largest = np.zeros(graph.size)
    np.maximum.at(largest, graph.feature_rows, sizes)
    if not largest.any():
        return graph, 1.0
    divisor = np.where(largest > 0, largest, 1)
    scaled = replace(graph, feature_values=graph.feature_values / divisor[graph.feature_rows])
    return scaled, float(largest[largest > 0].mean())


SCALES: Mapping[str, Callable[[ClientGraph], tuple[ClientGraph, float]]] = {
    "as_given": as_given,
    "largest_one": largest_one,
}
