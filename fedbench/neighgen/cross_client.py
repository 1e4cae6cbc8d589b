"""The cross-client term: what another client's nodes pull a client's generated neighbours to.

Here the other client's rows are read in place; what would be sent is counted in `exchange`. A client's fGen sees the
other clients through this gradient alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from fedbench.neighgen.draws import Draws
from fedbench.neighgen.operators import Features
from fedbench.neighgen.pull import Pull, add_nearest_of_all, add_nearest_of_pairs, pairs
from fedbench.tasks.node.arrays import ClientGraph


@dataclass(frozen=True)
class Wanted:
    """Generated neighbours that the feature losses go over.

    ``rows`` int64[r] among the generated ones; ``nodes`` int64[r], whose neighbours they are; ``missing`` int64[r], how
    many hidden neighbours those nodes have.
    """

    rows: Tensor
    nodes: Tensor
    missing: Tensor


class Others(Protocol):
    """The other clients of one client."""

    def pull(self, generated: Tensor, wanted: Wanted, draws: Draws) -> Pull:
        """Return sum over other clients j and wanted g of ||g - x_u||^2, u being the node of j that it is pulled to."""


@dataclass(frozen=True)
class ExactMinimum:
    """The paper's term: u is the nearest of all nodes of the other client. ``chunk``: rows searched at once."""

    others: Sequence[Features]
    chunk: int

    def pull(self, generated: Tensor, wanted: Wanted, draws: Draws) -> Pull:
        """Return the sum of min over u in V_j of ||g - x_u||^2."""
        total = Pull.none(generated)
        for features in self.others:
            add_nearest_of_all(total, generated, wanted.rows, features, self.chunk)
        return total


@dataclass(frozen=True)
class Neighbours:
    """A client as the released code samples from it: neighbours of node v are target[start[v] : start[v + 1]]."""

    client: int
    features: Features
    start: np.ndarray
    target: np.ndarray

    @classmethod
    def of(cls, client: int, graph: ClientGraph, features: Features) -> Neighbours:
        """Return the neighbour lists of a graph."""
        order = np.argsort(graph.edges[0], kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(graph.edges[0], minlength=graph.size))])
        return cls(client, features, start, graph.edges[1][order])

    def sample(self, nodes: int, each: int, random: np.random.Generator) -> np.ndarray:
        """Return [nodes, each]: ``each`` neighbours, with replacement, of a node drawn among those that have some."""
        degree = np.diff(self.start)
        drawn = random.choice(np.flatnonzero(degree), nodes)
        return self.target[self.start[drawn, None] + (random.random((nodes, each)) * degree[drawn, None]).astype(int)]


@dataclass(frozen=True)
class Sampled:
    """The released term: u is the nearest of the first min(``each``, n_v) of ``each`` drawn neighbours of a drawn node.

    Every kept node v, ``nodes`` in all, is given such a draw from every other client, anew in each epoch.
    """

    others: Sequence[Neighbours]
    nodes: int
    each: int

    def pull(self, generated: Tensor, wanted: Wanted, draws: Draws) -> Pull:
        """Return the sum over the sampled candidates; a client without edges has none to offer."""
        total = Pull.none(generated)
        rows, which = pairs(wanted.rows, torch.zeros_like(wanted.missing), wanted.missing.clamp_max(self.each))
        node = torch.zeros(len(generated), dtype=torch.long, device=rows.device)
        node[wanted.rows] = wanted.nodes
        for other in (o for o in self.others if len(o.target)):
            offered = torch.from_numpy(other.sample(self.nodes, self.each, draws.sampler(other.client))).to(rows.device)
            add_nearest_of_pairs(total, generated, rows, other.features, offered[node[rows], which])
        return total
