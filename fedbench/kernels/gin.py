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
from torch.autograd.function import once_differentiable

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
        ctx.graphs, own = graphs, [parameter.detach() for parameter in parameters]
        weights, biases = own[::2], own[1::2]
        z = _product(graphs.first, weights[0].flatten(0, 1), len(biases[0])).addcmul_(
            graphs.degrees, biases[0].unsqueeze(1)
        )
        kept, x = [], z
        for layer, keep in enumerate(graphs.keep[:-1]):
            if layer:
                x = _product(graphs.between[layer - 1], x.flatten(0, 1), len(x))
            first = weights[2 * layer + 1] * graphs.scale if layer else weights[1]
            hidden = _linear(x, first, biases[2 * layer + 1]).relu_()
            y = _linear(hidden, weights[2 * layer + 2], biases[2 * layer + 2]).relu_()
            if layer == 0 and graphs.spread is not None:
                y = _product(graphs.spread, y.flatten(0, 1), len(y))
            kept += [x, first, hidden, y if keep is None else y.mul_(keep)]
            x = y
        pooled = _product(graphs.pool, x.flatten(0, 1), len(x)).mul_(graphs.scale)
        end = _linear(pooled, weights[-2], biases[-2]).relu_()
        if graphs.keep[-1] is not None:
            end.mul_(graphs.keep[-1]).mul_(graphs.scale)
        ctx.save_for_backward(*parameters, *kept, pooled, end)
        return _linear(end, weights[-1].transpose(1, 2), biases[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        graphs, saved = ctx.graphs, ctx.saved_tensors
        layers = len(graphs.keep) - 1
        parameters, kept, (pooled, end) = saved[: 4 * layers + 6], saved[4 * layers + 6 : -2], saved[-2:]
        found: list[Tensor] = []  # from the last parameter to the first
        g = gradients[0]
        found += [g.sum(1), g.transpose(1, 2) @ end]
        g = _before_relu(g @ parameters[-2], end).mul_(graphs.scale)
        found += _of_linear(pooled, g)
        g = (g @ parameters[-4].transpose(1, 2)).mul_(graphs.scale)
        g = _product(graphs.pool.transposed, g.flatten(0, 1), len(g))
        for layer in reversed(range(layers)):
            x, first, hidden, y = kept[4 * layer : 4 * layer + 4]
            g = _before_relu(g, y)
            if layer == 0 and graphs.spread is not None:
                g = _product(graphs.spread.transposed, g.flatten(0, 1), len(g))
            found += _of_linear(hidden, g)
            g = _before_relu(g @ parameters[4 * layer + 4].transpose(1, 2), hidden)
            bias, weight = _of_linear(x, g)
            found += [bias, weight.mul_(graphs.scale) if layer else weight]
            g = g @ first.transpose(1, 2)
            if layer:
                g = _product(graphs.between[layer - 1].transposed, g.flatten(0, 1), len(g))
        into = _product(graphs.first.transposed, g.flatten(0, 1), len(g)).view_as(parameters[0])
        found += [(graphs.degrees * g).sum(1), into]
        return None, *reversed(found)


def _product(matrix: SparseMatrix, rows: Tensor, clients: int) -> Tensor:
    """Return the product with ``rows`` [columns, width] as [clients, rows a client, width]."""
    sums = torch.embedding_bag(rows, matrix.indices, matrix.indptr, False, 0, False, matrix.values, True)[0]
    return sums.view(clients, -1, rows.shape[1])


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.baddbmm(bias.unsqueeze(1), x, weight)


def _of_linear(x: Tensor, g: Tensor) -> list[Tensor]:
    """Return the gradients of bias and weight of a linear layer on ``x``."""
    return [g.sum(1), x.transpose(1, 2) @ g]


def _before_relu(g: Tensor, out: Tensor) -> Tensor:
    """Return the gradient before ReLU and mask, in place of that behind them."""
    return torch.ops.aten.threshold_backward.grad_input(g, out, 0.0, grad_input=g)
