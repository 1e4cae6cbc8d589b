"""Sums over the edges of an undirected graph whose edges have weights that are trained.

Edge e goes from source(e) to target(e); every edge is there in both directions. Two products, each the other's
gradient, so that both are differentiable any number of times:
    weighted_sum(w, x)_i = sum of w_e x_source(e) over the edges e into i
    products(a, b)_e = <a_target(e), b_source(e)>
With weights a number an edge and channel, `channel_sum` and `edge_softmax` (differentiable once).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Edges:
    """Directed edges by target.

    ``indptr`` int32[rows + 1], where each row's incoming edges start; ``sources``, ``targets`` int32[E]; ``reverse``
    int32[E], the same edge in the other direction.
    """

    indptr: Tensor
    sources: Tensor
    targets: Tensor
    reverse: Tensor

    def __len__(self) -> int:
        return len(self.sources)

    @cached_property
    def order(self) -> Tensor:
        """0 .. E - 1, int32."""
        return torch.arange(len(self), dtype=torch.int32, device=self.sources.device)

    def incoming(self, values: Tensor) -> Tensor:
        """Return the sums of edges' ``values`` [E, width] over the edges into each row; not differentiable."""
        return _bags(values, self.order, self.indptr)

    def largest(self, values: Tensor) -> Tensor:
        """Return the largest of ``values`` [E, width] over the edges into each row, 0 where there is none."""
        out = values.new_zeros(len(self.indptr) - 1, values.shape[1])
        into = self.targets.long().unsqueeze(1).expand_as(values)
        return out.scatter_reduce_(0, into, values, "amax", include_self=False)


def _bags(values: Tensor, indices: Tensor, indptr: Tensor, weights: Tensor | None = None) -> Tensor:
    return torch.embedding_bag(values, indices, indptr, False, 0, False, weights, True)[0]


class _WeightedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, edges: Edges, weights: Tensor, x: Tensor) -> Tensor:
        ctx.edges = edges
        ctx.save_for_backward(weights, x)
        return _bags(x.detach().contiguous(), edges.sources, edges.indptr, weights.detach().contiguous())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        _, of_weights, of_x = ctx.needs_input_grad
        (weights, x), (g,) = ctx.saved_tensors, gradients
        by_weights = products(ctx.edges, g, x) if of_weights else None
        if not of_x:
            return None, by_weights, None
        return None, by_weights, weighted_sum(ctx.edges, weights.index_select(0, ctx.edges.reverse), g)


class _Products(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, edges: Edges, a: Tensor, b: Tensor) -> Tensor:
        ctx.edges = edges
        ctx.save_for_backward(a, b)
        return a.index_select(0, edges.targets).mul_(b.index_select(0, edges.sources)).sum(1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        a, b = ctx.saved_tensors
        turned = gradients[0].index_select(0, ctx.edges.reverse)
        return None, weighted_sum(ctx.edges, gradients[0], b), weighted_sum(ctx.edges, turned, a)


def weighted_sum(edges: Edges, weights: Tensor, x: Tensor) -> Tensor:
    """Return the weighted sums of neighbours' rows; ``weights`` [E], ``x`` [rows, width]."""
    result: Tensor = _WeightedSum.apply(edges, weights, x)
    return result


def products(edges: Edges, a: Tensor, b: Tensor) -> Tensor:
    """Return <a_target, b_source> of every edge [E]; ``a``, ``b`` [rows, width]."""
    result: Tensor = _Products.apply(edges, a, b)
    return result


class _ChannelSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, edges: Edges, weights: Tensor, x: Tensor) -> Tensor:
        ctx.edges = edges
        ctx.save_for_backward(weights, x)
        return edges.incoming(x.index_select(0, edges.sources).mul_(weights))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        (weights, x), edges, g = ctx.saved_tensors, ctx.edges, gradients[0].contiguous()
        by_edge = g.index_select(0, edges.targets)
        back = _bags(weights * by_edge, edges.reverse, edges.indptr)
        return None, by_edge.mul_(x.index_select(0, edges.sources)), back


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, edges: Edges, scores: Tensor) -> Tensor:
        shares = (scores - edges.largest(scores).index_select(0, edges.targets)).exp_()
        shares.div_(edges.incoming(shares).index_select(0, edges.targets))
        ctx.edges = edges
        ctx.save_for_backward(shares)
        return shares

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        (shares,), edges = ctx.saved_tensors, ctx.edges
        moved = shares * gradients[0]
        return None, moved.addcmul_(shares, edges.incoming(moved).index_select(0, edges.targets), value=-1)


def channel_sum(edges: Edges, weights: Tensor, x: Tensor) -> Tensor:
    """Return sum of w_e * x_source(e) over the edges into each row, [rows, width]; ``weights`` [E, width]."""
    result: Tensor = _ChannelSum.apply(edges, weights, x)
    return result


def edge_softmax(edges: Edges, scores: Tensor) -> Tensor:
    """Return the softmax of ``scores`` [E, width] over the edges into each row, channel by channel."""
    result: Tensor = _Softmax.apply(edges, scores)
    return result
