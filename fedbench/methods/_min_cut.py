"""The minimum cut of a complete weighted graph, by Stoer & Wagner's algorithm."""

from __future__ import annotations

import numpy as np


def min_cut(weights: np.ndarray) -> tuple[list[int], list[int]]:
    """Return the two sides of the cut with the least total weight across it, members in rising order.

    Args:
        weights: symmetric [n, n], n >= 2, none negative; the diagonal doesn't matter.
    """
    import networkx  # a slow import, needed when a cluster splits only

    graph = networkx.Graph()
    rows, columns = np.triu_indices(len(weights), k=1)
    graph.add_weighted_edges_from(zip(rows.tolist(), columns.tolist(), weights[rows, columns].tolist(), strict=True))
    sides = networkx.stoer_wagner(graph)[1]
    one, other = sorted(sorted(side) for side in sides)
    return one, other
