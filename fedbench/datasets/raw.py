"""A graph with node features and classes as the raw files give it, in any node order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class RawNodes:
    """A whole graph; n nodes, d features, E directed edges.

    Attributes:
        x: float32 CSR [n, d], no stored zeros, column numbers ascending.
        y: int64[n].
        edges: int64[2, E], as `cleaned` leaves them.
    """

    x: sparse.csr_matrix
    y: np.ndarray
    edges: np.ndarray


def raw_nodes(x: sparse.spmatrix, y: np.ndarray, edges: np.ndarray) -> RawNodes:
    """Return a graph with features, classes and edges in standard form."""
    x = sparse.csr_matrix(x, dtype=np.float32, copy=True)
    x.sum_duplicates()
    x.eliminate_zeros()
    return RawNodes(x, np.asarray(y, dtype=np.int64), cleaned(edges, x.shape[0]))


def cleaned(edges: np.ndarray, nodes: int) -> np.ndarray:
    """Return int64[2, E] edges in both directions, without self-loops and duplicates, sorted by (source, target)."""
    source, target = np.asarray(edges, dtype=np.int64)
    different = source != target
    source, target = source[different], target[different]
    # np.unique hashes first, which takes a minute for the 49 million of COLLAB; a sort takes seconds
    code = np.sort(np.concatenate([source * nodes + target, target * nodes + source]))
    code = code[np.diff(code, prepend=-1) > 0]
    return np.stack(np.divmod(code, max(nodes, 1)))


def reordered(raw: RawNodes, order: np.ndarray) -> RawNodes:
    """Return the graph induced by the nodes ``order``, in that order."""
    place = np.full(raw.y.size, -1, dtype=np.int64)
    place[order] = np.arange(order.size)
    edges = place[raw.edges]
    return RawNodes(raw.x[order], raw.y[order], cleaned(edges[:, (edges >= 0).all(axis=0)], order.size))
