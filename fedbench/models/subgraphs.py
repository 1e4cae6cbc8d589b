"""Cutting graphs into the edges with the highest scores and the others (FedIGL's subgraph generator).

z from an unweighted GIN; score of an edge {i, j}: the mean of MLP([z_i | z_j]) and MLP([z_j | z_i]), p its sigmoid.
G_I has of every graph's edges the ceil(tau * edges) with the highest scores, G_V the others; both have all nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from fedbench.kernels.activation import bias_relu_dropout
from fedbench.kernels.edges import Edges
from fedbench.models.parameters import Parameters

Mask = Literal["soft_topk", "straight_through"]
_TIES = 1 << 16  # scores that agree to 1 / 65536 rank by the edges' order: rounding mustn't choose among equal edges


@dataclass(frozen=True)
class Cut:
    """Weights of all directed edges in both parts, and bool, whether they are in the first.

    ``invariant``, ``variant`` [E], differentiable by the scores; ``chosen`` bool[E].
    """

    invariant: Tensor
    variant: Tensor
    chosen: Tensor

    @property
    def constant(self) -> Cut:
        """The same without gradients."""
        return Cut(self.invariant.detach(), self.variant.detach(), self.chosen)


def edge_scores(parameters: Parameters, block: Any, z: Tensor) -> Tensor:
    """Return every edge's score [E], alike in both directions.

    ``block``: a `fedbench.tasks.graph.coloured_edges.ColouredBatch`; ``z`` of its colours, [clients, colours, width].
    """
    edges: Edges = block.edges
    first, second = parameters["generator.pair.weight"].split(z.shape[2], dim=1)
    left, right = ((z @ half).flatten(0, 1) for half in (first, second))
    pairs = left.index_select(0, block.target_colours) + right.index_select(0, block.source_colours)
    parts = pairs.split(list(block.edge_sizes))
    own = zip(
        parts, *(parameters[f"generator.{name}"] for name in ("pair.bias", "score.weight", "score.bias")), strict=True
    )
    scores = torch.cat([_scored(*each) for each in own])
    return (scores + scores.index_select(0, edges.reverse)) / 2


def _scored(pairs: Tensor, bias: Tensor, weight: Tensor, shift: Tensor) -> Tensor:
    hidden = bias_relu_dropout(pairs.unsqueeze(0), bias.unsqueeze(0)).squeeze(0)
    return (hidden @ weight).squeeze(1) + shift


def cut(scores: Tensor, block: Any, share: float, mask: Mask) -> Cut:
    """Return both parts of every graph.

    Args:
        scores: of all directed edges, [E].
        block: a `fedbench.tasks.graph.edges.EdgeBatch`.
        share: tau.
        mask: ``soft_topk``: an edge of G_I has the weight p, one of G_V 1 - p. ``straight_through``: an edge has the
            weight 1 in its part, with the gradient of p in G_I and of 1 - p in G_V, wherever it is.
    """
    chosen = highest(scores.detach(), block, share)
    p, one = scores.sigmoid(), chosen.to(scores.dtype)
    if mask == "straight_through":
        invariant = one + p - p.detach()
        return Cut(invariant, 1 - invariant, chosen)
    return Cut(one * p, (1 - one) * (1 - p), chosen)


def highest(scores: Tensor, block: Any, share: float) -> Tensor:
    """Return which directed edges are among the ceil(share * edges) highest of their graph, bool [E]."""
    counts = block.graph_pairs
    wanted, starts = (share * counts.double()).ceil(), counts.cumsum(0) - counts
    lower = block.lower.long()
    order = (scores[lower] * _TIES).round().argsort(descending=True, stable=True)
    order = order[block.graph[order].argsort(stable=True)]
    graph = block.graph[order]
    rank = torch.arange(len(order), device=order.device) - starts[graph]
    kept = lower[order[rank < wanted[graph]]]
    chosen = torch.zeros(len(scores), dtype=torch.bool, device=scores.device)
    chosen[kept] = True
    chosen[block.edges.reverse[kept].long()] = True
    return chosen
