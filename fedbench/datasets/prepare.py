"""From the whole graph in canonical order to the graph of the experiments."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from fedbench.datasets.raw import RawNodes


def adjacency(raw: RawNodes) -> sparse.csr_matrix:
    """Return the int8 CSR adjacency matrix [n, n]."""
    nodes = raw.y.size
    return sparse.csr_matrix((np.ones(raw.edges.shape[1], np.int8), tuple(raw.edges)), (nodes, nodes))


def largest_component(raw: RawNodes) -> np.ndarray:
    """Return int64[m], the nodes of the largest connected component (of equals, the first), ascending."""
    _, label = connected_components(adjacency(raw), directed=False)
    return np.flatnonzero(label == np.bincount(label).argmax())


def ball(raw: RawNodes, nodes: int) -> np.ndarray:
    """Return int64[nodes], ascending: where a breadth-first search from `_centre` comes first.

    The search follows the canonical order, so the ball depends on the content alone; it is connected.
    """
    found = breadth_first_order(adjacency(raw), _centre(raw), return_predecessors=False)
    return np.sort(found[:nodes]).astype(np.int64)


def _centre(raw: RawNodes) -> int:
    """Return the node whose neighbours have the most classes; of several, the one of most neighbours, the first.

    A ball around a mere hub is nearly all of one class.
    """
    matrix = adjacency(raw)
    member = sparse.csr_matrix((np.ones(raw.y.size, np.int64), (np.arange(raw.y.size), raw.y)))
    classes = np.diff((matrix @ member).indptr)
    return int(np.lexsort((-np.diff(matrix.indptr), -classes))[0])


def row_normalised(x: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return non-negative features divided by their row's sum where that is above 1 (PyG's ``NormalizeFeatures``)."""
    total = np.maximum(np.asarray(x.sum(axis=1, dtype=np.float64)).ravel(), 1.0)
    data = x.data / np.repeat(total, np.diff(x.indptr))
    return sparse.csr_matrix((data.astype(np.float32), x.indices, x.indptr), shape=x.shape)
