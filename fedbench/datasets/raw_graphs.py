"""Many graphs as the raw files give them, graphs and nodes in the files' order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.datasets.raw import cleaned
from fedbench.errors import DataError


@dataclass(frozen=True)
class RawGraphs:
    """G graphs with n nodes and E directed edges in all.

    Attributes:
        graph_indptr: int64[G + 1], the nodes of graph g are ``graph_indptr[g]`` to ``graph_indptr[g + 1] - 1``.
        edges: int64[2, E], as `raw.cleaned` leaves them.
        y: int64[G], class of each graph, 0 to C - 1.
        node_labels: int64[n], or None.
        node_attributes: float32[n, a], or None.
    """

    graph_indptr: np.ndarray
    edges: np.ndarray
    y: np.ndarray
    node_labels: np.ndarray | None = None
    node_attributes: np.ndarray | None = None

    @property
    def nodes(self) -> int:
        """Return n."""
        return int(self.graph_indptr[-1])


def raw_graphs(
    sizes: np.ndarray,
    edges: np.ndarray,
    labels: np.ndarray,
    node_labels: np.ndarray | None = None,
    node_attributes: np.ndarray | None = None,
) -> RawGraphs:
    """Return graphs in standard form.

    Self-loops and duplicates are dropped, as PyG's ``read_tu_data`` does, and each edge is given both directions,
    which the files of TUDataset list anyway.

    Args:
        sizes: int64[G], number of nodes of each graph, in the order of their numbers.
        edges: int64[2, any], node numbers that run on from graph to graph.
        labels: [G], class labels; the smallest becomes class 0, and so on.
        node_labels: int64[n], or None.
        node_attributes: [n, a], or None.

    Raises:
        DataError: an edge leaves its graph, or an array doesn't have one entry a graph or a node.
    """
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    nodes = int(indptr[-1])
    _check_length("graph labels", labels.size, "graphs", sizes.size)
    for name, rows in (("node labels", node_labels), ("node attributes", node_attributes)):
        _check_length(name, nodes if rows is None else len(rows), "nodes", nodes)
    _check_edges(edges, np.repeat(np.arange(sizes.size, dtype=np.int32), sizes))
    attributes = None if node_attributes is None else np.asarray(node_attributes, dtype=np.float32)
    y = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return RawGraphs(indptr, cleaned(edges, nodes), y, node_labels, attributes)


def _check_length(what: str, found: int, of: str, expected: int) -> None:
    if found != expected:
        raise DataError(f"one of the {what} for each of the {of}", found=f"{found:,} {what}, {expected:,} {of}")


def _check_edges(edges: np.ndarray, graph: np.ndarray) -> None:
    inside = ((edges >= 0) & (edges < graph.size)).all()
    if not inside or (graph[edges[0]] != graph[edges[1]]).any():
        raise DataError(
            "edges between nodes of one graph",
            found="an edge between two graphs" if inside else "an edge of an unknown node",
            remedy="fetch the files again",
        )
