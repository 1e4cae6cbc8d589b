"""Batches by nodes and edges: for networks in which every edge has a value of its own, which A + I can't carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.edges import Edges
from fedbench.tasks.graph.arrays import Chosen, ClientGraphs, choose
from fedbench.tasks.graph.block import Batch, GraphBlock
from fedbench.tasks.graph.colours import Rows


@dataclass(frozen=True, kw_only=True)
class EdgeBatch(Batch):
    """A batch in which every node is a row from the start.

    ``first`` is X itself, and ``degrees`` are ones; there is no ``spread`` and no ``between``.

    Attributes:
        edges: without loops, between flat rows (client * slots + node).
        edge_sizes: directed edges of each client.
        lower: int32[pairs], of both directions of every edge the one into the lower node.
        graph: int64[pairs], the graph of every pair, counted over all clients.
        graph_pairs: int64[graphs], pairs of each graph.
        nodes: [clients, graph_slots, 1], nodes of each graph; 1 for padding.
    """

    edges: Edges
    edge_sizes: tuple[int, ...]
    lower: Tensor
    graph: Tensor
    graph_pairs: Tensor
    nodes: Tensor


@dataclass(frozen=True)
class EdgePart:
    """One client's graphs of a batch, without loops: edge e goes from ``sources[e]`` to ``targets[e]``, by target."""

    chosen: Chosen
    features: Rows
    sources: np.ndarray
    targets: np.ndarray

    @classmethod
    def of(cls, client: ClientGraphs, graphs: np.ndarray) -> EdgePart:
        """Return a client's part of a batch."""
        chosen = choose(client, graphs)
        targets = np.repeat(np.arange(len(chosen.rows)), np.diff(chosen.start))
        real = targets != chosen.neighbours
        return cls(chosen, client.features.take(chosen.rows), chosen.neighbours[real], targets[real])

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.chosen.rows)

    @property
    def graph_of_node(self) -> np.ndarray:
        """Return every node's graph."""
        return np.repeat(np.arange(len(self.chosen.labels)), np.diff(self.chosen.nodes))


@dataclass(frozen=True)
class EdgeBlock(GraphBlock):
    """The packed clients' graphs, from which batches by nodes and edges are made."""

    def batch(self, graphs: Sequence[np.ndarray]) -> EdgeBatch:
        """Return a batch of the chosen graphs of each client."""
        return self.edge_batch([EdgePart.of(client, own) for client, own in zip(self.clients, graphs, strict=True)])

    def batches(self, graphs: Sequence[Sequence[np.ndarray]]) -> Iterator[Batch]:
        """Yield batches, for each the chosen graphs of every client."""
        yield from map(self.batch, graphs)

    @property
    def has_extra(self) -> bool:
        """Tell that nodes of one colour differ, so that evaluation computes every node."""
        return True

    def edge_batch(self, parts: Sequence[EdgePart]) -> EdgeBatch:
        """Return the parts as one batch."""
        slots = max(part.size for part in parts)
        graph_slots = max(len(part.chosen.labels) for part in parts)
        pooling = [Rows(part.chosen.nodes, np.arange(part.size), None, slots) for part in parts]
        edges = self._edges(parts, slots)
        pairs = [np.flatnonzero(part.targets < part.sources) for part in parts]
        graph = _shifted([p.graph_of_node[p.targets[own]] for p, own in zip(parts, pairs, strict=True)], graph_slots)
        lower = np.concatenate([own + first for own, first in zip(pairs, _starts(parts), strict=True)])
        return EdgeBatch(
            sizes=tuple(part.size for part in parts),
            slots=slots,
            graph_sizes=tuple(len(part.chosen.labels) for part in parts),
            graph_slots=graph_slots,
            first=self.matrix([part.features for part in parts], slots),
            degrees=self.padded([np.ones(part.size) for part in parts], slots),
            spread=None,
            between=(),
            pool=self.matrix(pooling, graph_slots),
            labels=self.labels([part.chosen.labels for part in parts], graph_slots),
            train_counts=self.train_counts,
            absent=self.absent,
            edges=edges,
            edge_sizes=tuple(len(part.sources) for part in parts),
            lower=self.on(lower.astype(np.int32)),
            graph=self.on(graph),
            graph_pairs=self.on(np.bincount(graph, minlength=len(parts) * graph_slots)),
            nodes=self.padded([np.diff(part.chosen.nodes) for part in parts], graph_slots).clamp(min=1),
        )

    def _edges(self, parts: Sequence[EdgePart], slots: int) -> Edges:
        sources, targets = (_shifted([getattr(p, end) for p in parts], slots) for end in ("sources", "targets"))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=len(parts) * slots))])
        reverse = np.argsort(sources.astype(np.uint16) if len(indptr) <= 1 << 16 else sources, kind="stable")
        return Edges(*(self.on(each.astype(np.int32)) for each in (indptr, sources, targets, reverse)))

    def on(self, values: np.ndarray) -> Tensor:
        """Return an array of whole numbers where the block lives."""
        return torch.from_numpy(values).to(self.place.device)


def _shifted(parts: Sequence[np.ndarray], by: int) -> np.ndarray:
    """Return the clients' numbers one after another, those of client c shifted by c * ``by``."""
    return np.concatenate([own + place * by for place, own in enumerate(parts)])


def _starts(parts: Sequence[EdgePart]) -> list[int]:
    """Return where each client's edges start."""
    return [0, *accumulate(len(part.sources) for part in parts)][:-1]


def with_edges_only(client: ClientGraphs) -> ClientGraphs:
    """Return a client's graphs but those without an edge."""
    loops = client.nodes[1:] - client.nodes[:-1]
    entries = client.start[client.nodes[1:]] - client.start[client.nodes[:-1]]
    kept = np.flatnonzero(entries > loops)
    chosen = choose(client, kept)
    return replace(
        client,
        labels=chosen.labels,
        split=client.split[kept],
        nodes=chosen.nodes,
        start=chosen.start,
        neighbours=chosen.neighbours,
        features=client.features.take(chosen.rows),
        extra=None if client.extra is None else client.extra[chosen.rows],
    )
