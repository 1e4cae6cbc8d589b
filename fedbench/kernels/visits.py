"""A node's most important neighbours: where random walks from it come by most often (Ying et al., KDD 2018)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

_AT_ONCE = 1 << 20  # visits counted together


def important_neighbours(
    taken: sparse.csr_matrix, walks: int, steps: int, neighbours: int, random: np.random.Generator
) -> sparse.csr_matrix:
    """Return each node's neighbours and their shares of its visits, [users + items, users + items], rows of sum 1.

    Args:
        taken: 0-1 matrix [users, items], the edges that walks follow; a node is a user or an item.
        walks: from every node.
        steps: of a walk.
        neighbours: kept of each node, those of most visits; of equal ones the first. A node isn't its own.
        random: takes the steps.
    """
    graph = sparse.csr_matrix(sparse.bmat([[None, taken], [taken.T, None]]))
    nodes, size = graph.shape[0], max(_AT_ONCE // (walks * steps), 1)
    parts = [
        _most_visited(graph, np.arange(first, min(first + size, nodes)), walks, steps, neighbours, random)
        for first in range(0, nodes, size)
    ]
    rows, columns, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    total = np.bincount(rows, counts, minlength=nodes)
    return sparse.csr_matrix((counts / total[rows], (rows, columns)), shape=graph.shape)


def _most_visited(
    graph: sparse.csr_matrix, nodes: np.ndarray, walks: int, steps: int, neighbours: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return nodes, their neighbours, and how often walks came by, by node and descending visits."""
    nodes = nodes[np.diff(graph.indptr)[nodes] > 0]
    origin = np.repeat(nodes, walks)
    places = [origin]
    for _ in range(steps):
        places.append(_next(graph, places[-1], random))
    visited = np.concatenate(places[1:])
    keys = np.tile(origin, steps).astype(np.int64) * graph.shape[0] + visited
    different, counts = np.unique(keys[visited != np.tile(origin, steps)], return_counts=True)
    row, column = np.divmod(different, graph.shape[0])
    order = np.lexsort((column, -counts, row))
    rank = np.arange(row.size) - np.searchsorted(row, row[order])
    chosen = order[rank < neighbours]
    return row[chosen], column[chosen], counts[chosen]


def _next(graph: sparse.csr_matrix, places: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a random neighbour of each place; each has one."""
    degree = np.diff(graph.indptr)[places]
    step = np.minimum((random.random(places.size) * degree).astype(np.int64), degree - 1)
    return np.asarray(graph.indices[graph.indptr[places] + step])
