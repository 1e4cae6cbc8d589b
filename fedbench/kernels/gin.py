"""A graph isomorphism network on packed batches as one differentiable step, its gradient written out.

    z = S X' W + d b                                      first: rows of S X', d their row sums
    layer 1   y = relu(W2 relu(W1 z + b1) + b2)           on distinct rows, then spread over the nodes
    layer l   y = relu(W2 relu(W1 (A + I) x + b1) + b2)
    dropout   x = scale * keep * y
    end       relu, dropout of (sum of x over a graph's nodes) W + b, then the classifier

``keep`` is multiplied in at every node; ``scale`` waits for what is small: the next layer's W1, the sums over graphs.
A gradient meets a ReLU and its mask by one comparison, since the output is 0 where either is. What autograd would do
beside the products (a function a layer, a pass over the nodes for every scale and bias) is most of a small batch's
time (``docs/benchmarks.md``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix


@dataclass(frozen=True)
class Graphs:
    """What a pass over a batch is made from, all but the parameters; rows padded alike for each client.

    Attributes:
        first: distinct rows of (A + I) X [clients * rows, clients * features].
        degrees: their row sums of A + I [clients, rows, 1].
        spread: the row of each node [clients * nodes, clients * rows]; None where rows are nodes.
        between: A + I for layers 2, 3, ...
        pool: sums over each graph's nodes [clients * graphs, clients * nodes].
        keep: 0/1 masks (uint8) of each layer and of the end, or None for each.
        scale: factor of kept units.
    """

    first: SparseMatrix
    degrees: Tensor
    spread: SparseMatrix | None
    between: Sequence[SparseMatrix]
    pool: SparseMatrix
    keep: Sequence[Tensor | None]
    scale: float


def gin(graphs: Graphs, parameters: Sequence[Tensor]) -> Tensor:
    """Return logits [clients, graphs, classes]; differentiable once.

    Args:
        graphs: the batch.
        parameters: weight and bias of the input layer, of each layer's W1 and W2, of the end's linear layer, all
            [clients, in, out] and [clients, out]; then the classifier's [clients, classes, in] and [clients, classes].
    """
    logits: Tensor = _Gin.apply(graphs, *parameters)
    return logits


class _Gin(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, graphs: Graphs, *parameters: Tensor) -> Tensor:
        weights, biases = parameters[::2], parameters[1::2]
        x = _product(graphs.first, weights[0].detach()).addcmul_(graphs.degrees, biases[0].unsqueeze(1))
        kept = []
        for layer, keep in enumerate(graphs.keep[:-1]):
            if layer:
                x = _product(graphs.between[layer - 1], x)
            first = weights[2 * layer + 1] * graphs.scale if layer else weights[1]
            hidden = _linear(x, first, biases[2 * layer + 1]).relu_()
            y = _linear(hidden, weights[2 * layer + 2], biases[2 * layer + 2]).relu_()
            if layer == 0 and graphs.spread is not None:
                y = _product(graphs.spread, y)
            if keep is not None:
                y.mul_(keep)
            kept += [x, first, hidden, y]
            x = y
        pooled = _product(graphs.pool, x).mul_(graphs.scale)
        end = _linear(pooled, weights[-2], biases[-2]).relu_()
        if graphs.keep[-1] is not None:
            end.mul_(graphs.keep[-1]).mul_(graphs.scale)
        ctx.graphs = graphs
        ctx.save_for_backward(*weights, *kept, pooled, end)
        return _linear(end, weights[-1].mT, biases[-1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # torch's `once_differentiable` lets a loss pass that is linear in the logits
            raise RuntimeError("gin() was asked for a graph of its gradient, but is differentiable once only")
        graphs, saved = ctx.graphs, ctx.saved_tensors
        layers, (g,) = len(graphs.keep) - 1, gradients
        weights, kept, (pooled, end) = saved[: 2 * layers + 3], saved[2 * layers + 3 : -2], saved[-2:]
        found = [g.sum(1), torch.bmm(g.mT, end)]  # from the last parameter to the first
        g = _before_relu(torch.bmm(g, weights[-1]), end).mul_(graphs.scale)
        found += _of_linear(pooled, g)
        g = _product(graphs.pool.transposed, torch.bmm(g, weights[-2].mT).mul_(graphs.scale))
        for layer in reversed(range(layers)):
            x, first, hidden, y = kept[4 * layer : 4 * layer + 4]
            g = _before_relu(g, y)
            if layer == 0 and graphs.spread is not None:
                g = _product(graphs.spread.transposed, g)
            found += _of_linear(hidden, g)
            inner = _before_relu(torch.bmm(g, weights[2 * layer + 2].mT), hidden)
            bias, weight = _of_linear(x, inner)
            found += [bias, weight.mul_(graphs.scale) if layer else weight]
            g = torch.bmm(inner, first.mT, out=g)
            if layer:
                g = _product(graphs.between[layer - 1].transposed, g)
        into = _product(graphs.first.transposed, g).view_as(weights[0])
        return None, into, (graphs.degrees * g).sum(1), *reversed(found)


def _product(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """Return the product with ``x`` [clients, columns a client, width] as [clients, rows a client, width]."""
    flat = x.flatten(0, 1)
    sums = torch.embedding_bag(flat, matrix.indices, matrix.indptr, False, 0, False, matrix.values, True)[0]
    return sums.view(len(x), -1, x.shape[2])


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.baddbmm(bias.unsqueeze(1), x, weight)


def _of_linear(x: Tensor, g: Tensor) -> list[Tensor]:
    """Return the gradients of bias and weight of a linear layer on ``x``."""
    return [g.sum(1), torch.bmm(x.mT, g)]


def _before_relu(g: Tensor, out: Tensor) -> Tensor:
    """Return the gradient before ReLU and mask, in place of that behind them."""
    before: Tensor = torch.ops.aten.threshold_backward.grad_input(g, out, 0.0, grad_input=g)
    return before
