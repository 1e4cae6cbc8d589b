"""Appends generated neighbours to a client's graph."""

from __future__ import annotations

import numpy as np

from fedbench.neighgen.operators import attach
from fedbench.tasks.node.arrays import SPLIT_CODES, ClientGraph


def append(graph: ClientGraph, client: int, owners: np.ndarray, generated: np.ndarray) -> ClientGraph:
    """Return the graph with generated nodes after the real ones, which stay as they are.

    A generated node has label 0 and split ``unused``, so that no loss and no metric reads it, and is joined in both
    directions to the node it was generated for.

    Args:
        graph: of the client.
        client: owner of the generated nodes.
        owners: int64[g], the node that each is a neighbour of.
        generated: features [g, width].
    """
    count, width = generated.shape
    return ClientGraph(
        labels=_extend(graph.labels, np.zeros(count)),
        split=_extend(graph.split, np.full(count, SPLIT_CODES["unused"])),
        owner=_extend(graph.owner, np.full(count, client)),
        edges=attach(graph.edges, graph.size, owners),
        feature_rows=_extend(graph.feature_rows, np.repeat(graph.size + np.arange(count), width)),
        feature_columns=_extend(graph.feature_columns, np.tile(np.arange(width), count)),
        feature_values=_extend(graph.feature_values, generated.ravel()),
    )


def _extend(real: np.ndarray, more: np.ndarray) -> np.ndarray:
    return np.concatenate([real, more.astype(real.dtype)])
