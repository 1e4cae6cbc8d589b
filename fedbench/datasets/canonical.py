"""One node order that depends on the content alone, so that no result depends on which host answered."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fedbench.datasets.colours import content_colours, refined
from fedbench.datasets.raw import RawNodes
from fedbench.datasets.search import SmallGraph, canonical_order


def content_order(raw: RawNodes) -> np.ndarray:
    """Return int64[n], the nodes in canonical order: however the input is ordered, the reordered arrays are the same.

    Nodes are sorted by a colour refined from features, class and neighbourhood (`colours.refined`). What is still
    tied has the same features, class and neighbours outside the tied classes; only edges among tied nodes can matter
    then, and they fall into small independent pieces, each put in order by `search.canonical_order`.
    """
    nodes = raw.y.size
    adjacency = sparse.csr_matrix((np.ones(raw.edges.shape[1], np.int8), tuple(raw.edges)), (nodes, nodes))
    colours = refined(content_colours(raw.x, raw.y), adjacency.indptr, adjacency.indices)
    _, cell, size = np.unique(colours, return_inverse=True, return_counts=True)
    rank = np.zeros(nodes, dtype=np.int64)
    for piece, edges in _pieces(cell, size, _telling(raw.edges, cell, size)):
        rank[piece[_order(cell[piece], edges)]] = np.arange(piece.size)
    return np.lexsort((rank, cell))


def _telling(edges: np.ndarray, cell: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the edges between tied nodes that can tell them apart: not those that join all of two cells."""
    edges = edges[:, (size[cell[edges]] > 1).all(axis=0)]
    one, other = cell[edges]
    _, pair, count = np.unique(one * size.size + other, return_inverse=True, return_counts=True)
    return edges[:, count[pair] < size[one] * (size[other] - (one == other))]


def _pieces(cell: np.ndarray, size: np.ndarray, edges: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield groups of whole cells joined by ``edges``: the nodes int64[m], and the edges as places in the group."""
    cells = size.size
    links = sparse.coo_matrix((np.ones(edges.shape[1]), tuple(cell[edges])), (cells, cells))
    _, group = connected_components(links, directed=False)
    for number in np.unique(group[cell[edges[0]]]):
        nodes = np.flatnonzero(group[cell] == number)
        inside = edges[:, group[cell[edges[0]]] == number]
        yield nodes, np.searchsorted(nodes, inside)


def _order(cell: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the canonical order of one piece with cells int64[m] and edges int64[2, E]."""
    graph = sparse.csr_matrix((np.ones(edges.shape[1], np.int8), tuple(edges)), (cell.size, cell.size))
    return canonical_order(SmallGraph(cell.astype(np.uint64), graph.indptr, graph.indices))
