"""Graph attention: every node's weighted mean of its neighbours, the weights a softmax of trained logits.

A message a neighbour is never stored: memory grows with neighbours, not with neighbours times width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

SLOPE = 0.2  # of the leaky ReLU (Velickovic et al., ICLR 2018)


@dataclass(frozen=True)
class Neighbourhoods:
    """Who attends to whom: entry e says that node ``rows[e]`` sees node ``columns[e]``, sorted by row, then column.

    ``start`` int64[n + 1]: first entry of each row. ``order``, ``back``: the entries sorted by column, and the first
    of each column among these.
    """

    rows: Tensor
    columns: Tensor
    start: Tensor
    order: Tensor
    back: Tensor

    @property
    def nodes(self) -> int:
        """Number of nodes n."""
        return len(self.start) - 1


def neighbourhoods(graphs: Sequence[sparse.csr_matrix], device: torch.device) -> Neighbourhoods:
    """Return the graphs of several clients side by side.

    Args:
        graphs: of each client, square and of one shape; every entry is a neighbour, whatever its value.
        device: where they live.
    """
    whole = sparse.csr_matrix(sparse.block_diag(graphs, format="csr"))
    whole.sort_indices()
    rows = np.repeat(np.arange(whole.shape[0]), np.diff(whole.indptr))
    order = np.argsort(whole.indices, kind="stable")
    back = np.concatenate([[0], np.cumsum(np.bincount(whole.indices, minlength=whole.shape[1]))])
    parts = (rows, whole.indices, whole.indptr, order, back)
    return Neighbourhoods(*(torch.from_numpy(part.astype(np.int64)).to(device) for part in parts))


def attend(graph: Neighbourhoods, vectors: Tensor, sent: Tensor, own: Tensor) -> Tensor:
    """Return the sum over j of alpha_ij x_j for each node i, [n, d].

    alpha_ij is the softmax over i's neighbours j of LeakyReLU(own_i + sent_j). A node without neighbours gets 0.

    Args:
        graph: who attends to whom.
        vectors: x, [n, d].
        sent: [n].
        own: [n].
    """
    result: Tensor = _Attention.apply(graph, vectors, sent, own)
    return result


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, graph: Neighbourhoods, vectors: Tensor, sent: Tensor, own: Tensor) -> Tensor:
        logits = own.index_select(0, graph.rows) + sent.index_select(0, graph.columns)
        slope = torch.where(logits > 0, 1.0, SLOPE).to(logits.dtype)
        alpha = _softmax(logits * slope, graph)
        ctx.graph = graph
        ctx.save_for_backward(vectors, alpha, slope)
        return _weighted(vectors.detach(), graph.columns, graph.start, alpha)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        graph, (vectors, alpha, slope) = ctx.graph, ctx.saved_tensors
        gradient = gradients[0].contiguous()
        to_alpha = _products(gradient, vectors, graph)
        mean = _sums(alpha * to_alpha, graph.rows, graph.nodes)
        to_logits = alpha * (to_alpha - mean.index_select(0, graph.rows)) * slope
        turned = graph.rows.index_select(0, graph.order)
        to_vectors = _weighted(gradient, turned, graph.back, alpha.index_select(0, graph.order))
        return None, to_vectors, _sums(to_logits, graph.columns, graph.nodes), _sums(to_logits, graph.rows, graph.nodes)


def _softmax(logits: Tensor, graph: Neighbourhoods) -> Tensor:
    """Return the softmax over each row's entries."""
    largest = logits.new_full((graph.nodes,), float("-inf")).scatter_reduce_(0, graph.rows, logits, "amax")
    raised = torch.exp(logits - largest.index_select(0, graph.rows))
    return raised / _sums(raised, graph.rows, graph.nodes).index_select(0, graph.rows)


def _sums(values: Tensor, places: Tensor, count: int) -> Tensor:
    return values.new_zeros(count).index_add_(0, places, values)


def _weighted(vectors: Tensor, columns: Tensor, start: Tensor, weights: Tensor) -> Tensor:
    return torch.embedding_bag(vectors.contiguous(), columns, start, False, 0, False, weights, True)[0]


def _products(gradient: Tensor, vectors: Tensor, graph: Neighbourhoods) -> Tensor:
    """Return gradient_i . x_j of every entry: EmbeddingBag's own gradient of weights, which gathers no vectors."""
    found: Tensor = torch.ops.aten._embedding_bag_per_sample_weights_backward(
        gradient, vectors.contiguous(), graph.columns, graph.start, graph.rows, 0
    )
    return found
