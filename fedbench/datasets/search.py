"""Canonical order of a small graph whose colours don't tell all nodes apart.

Individualisation and refinement (McKay & Piperno, Practical graph isomorphism II, 2014): give one node of a tied class
a colour of its own, refine, repeat; of all the orders so reached, take the one with the smallest edge list. Two choices
that lead to the same edge list differ by a symmetry of the graph, so one of them is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.datasets.colours import Colours, mixed, refined


@dataclass(frozen=True)
class SmallGraph:
    """A graph of n nodes with base colours.

    Attributes:
        colours: uint64[n].
        indptr: int64[n + 1], with ``indices`` the neighbours.
        indices: int64[E].
    """

    colours: Colours
    indptr: np.ndarray
    indices: np.ndarray

    def refine(self, colours: Colours) -> Colours:
        """Return ``colours`` refined on this graph."""
        return refined(colours, self.indptr, self.indices)


Leaf = tuple[bytes, np.ndarray]  # the relabelled edge list, and the order int64[n] that gives it


def canonical_order(graph: SmallGraph) -> np.ndarray:
    """Return int64[n], nodes by base colour, ties broken so that the relabelled edges depend on content alone."""
    return _smallest(graph, graph.refine(graph.colours))[1]


def _smallest(graph: SmallGraph, colours: Colours) -> Leaf:
    children = _children(graph, colours)
    if not children:
        return _leaf(graph, colours)
    distinct = {_any_leaf(graph, child)[0]: child for child in children}
    return min((_smallest(graph, child) for child in distinct.values()), key=lambda leaf: leaf[0])


def _any_leaf(graph: SmallGraph, colours: Colours) -> Leaf:
    while (tied := _tied(colours)).size:
        colours = graph.refine(_single_out(colours, tied[0]))
    return _leaf(graph, colours)


def _children(graph: SmallGraph, colours: Colours) -> list[Colours]:
    """Return the refinements after singling out each node of the first tied class that have the smallest colours."""
    children = [graph.refine(_single_out(colours, node)) for node in _tied(colours)]
    traces = [np.sort(child).tobytes() for child in children]
    smallest = min(traces, default=b"")
    return [child for child, trace in zip(children, traces, strict=True) if trace == smallest]


def _tied(colours: Colours) -> np.ndarray:
    """Return the nodes of the smallest colour that several nodes have; empty if there is none."""
    values, counts = np.unique(colours, return_counts=True)
    shared = values[counts > 1]
    return np.flatnonzero(colours == shared[0]) if shared.size else np.array([], dtype=np.int64)


def _single_out(colours: Colours, node: int) -> Colours:
    colours = colours.copy()
    colours[node] = mixed(~colours[node : node + 1])[0]
    return colours


def _leaf(graph: SmallGraph, colours: Colours) -> Leaf:
    order = np.lexsort((colours, graph.colours))
    place = np.argsort(order)
    source = np.repeat(place, np.diff(graph.indptr))
    edges = np.sort(source * place.size + place[graph.indices])
    return edges.astype(">i8").tobytes(), order
