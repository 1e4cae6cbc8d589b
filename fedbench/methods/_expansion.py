"""FedGNN's graph expansion: every client's subgraph with the outside ends of its cut edges as further nodes.

A third party matches encrypted node ids: a client sends those of its own nodes and of the nodes at the outside ends of
its cut edges; for each of the latter that some client holds, the third party will pass on representations.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fedbench.tasks.node.arrays import SPLIT_CODES, ClientGraph, NodeProblem


@dataclass(frozen=True)
class ExpandedGraph(ClientGraph):
    """A client's subgraph, its ``own`` nodes first, then the outside nodes by ascending number in the data set.

    Outside nodes have no features, no known label (0 is stored) and the split 'unused'; they are linked, in both
    directions, to the client's nodes they are neighbours of, not to each other: a client doesn't know those edges.

    ``sender`` int64[outside]: who passes on an outside node's representation, the first client that holds it.
    ``place`` int64[outside]: its row among the nodes that client sends. ``sent`` int64[b]: own nodes this client sends.
    """

    own: int
    sender: np.ndarray
    place: np.ndarray
    sent: np.ndarray

    @property
    def outside(self) -> int:
        """Outside nodes."""
        return self.size - self.own


def expanded_graphs(problem: NodeProblem) -> list[ExpandedGraph]:
    """Return every client's expanded subgraph; a neighbour that no client holds is left out."""
    holder = first_holders(problem)
    outside = [outside_nodes(problem, client, holder) for client in range(problem.clients)]
    wanted = np.unique(np.concatenate(outside))
    sent = [wanted[holder[wanted] == client] for client in range(problem.clients)]
    return [_expanded(problem, client, nodes, holder, sent) for client, nodes in enumerate(outside)]


def first_holders(problem: NodeProblem) -> np.ndarray:
    """Return the first client that holds each node of the data set, -1 where none does."""
    holder = np.full(len(problem.data["y"]), -1, dtype=np.int64)
    nodes, first = np.unique(problem.partition["node"], return_index=True)  # entries are sorted by client
    holder[nodes] = problem.partition["client"][first]
    return holder


def outside_nodes(problem: NodeProblem, client: int, holder: np.ndarray) -> np.ndarray:
    """Return the nodes at the outside ends of a client's cut edges that some client holds, ascending."""
    edges = _cut_edges(problem, client)
    return np.unique(edges[1][holder[edges[1]] >= 0])


def _own_nodes(problem: NodeProblem, client: int) -> np.ndarray:
    nodes: np.ndarray = problem.partition["node"][problem.partition["client"] == client]
    return nodes


def _cut_edges(problem: NodeProblem, client: int) -> np.ndarray:
    """Return the edges from a client's nodes to nodes it doesn't hold, [2, m]."""
    mine = np.zeros(len(problem.data["y"]), dtype=bool)
    mine[_own_nodes(problem, client)] = True
    source, target = problem.data["edges"]
    edges: np.ndarray = problem.data["edges"][:, mine[source] & ~mine[target]]
    return edges


def _expanded(
    problem: NodeProblem, client: int, outside: np.ndarray, holder: np.ndarray, sent: list[np.ndarray]
) -> ExpandedGraph:
    graph, own = problem.client_data[client], _own_nodes(problem, client)
    slot = np.full(len(holder), -1, dtype=np.int64)
    slot[own], slot[outside] = np.arange(graph.size), graph.size + np.arange(len(outside))
    crossing = slot[_cut_edges(problem, client)]
    crossing = crossing[:, crossing[1] >= 0]
    values: dict[str, Any] = {field.name: getattr(graph, field.name) for field in fields(graph)}
    values |= {
        "labels": _appended(graph.labels, 0, len(outside)),
        "split": _appended(graph.split, SPLIT_CODES["unused"], len(outside)),
        "owner": _appended(graph.owner, client, len(outside)),
        "edges": np.concatenate([graph.edges, crossing, crossing[::-1]], axis=1),
    }
    row = np.full(len(holder), -1, dtype=np.int64)
    for nodes in sent:
        row[nodes] = np.arange(len(nodes))
    return ExpandedGraph(**values, own=graph.size, sender=holder[outside], place=row[outside], sent=slot[sent[client]])


def _appended(values: np.ndarray, value: int, times: int) -> np.ndarray:
    return np.concatenate([values, np.full(times, value, dtype=values.dtype)])
