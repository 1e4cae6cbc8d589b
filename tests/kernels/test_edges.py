"""Sums over edges and attention in short sequences against dense formulas, and their gradients."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

from fedbench.kernels import edges as kernel
from fedbench.kernels.batch_norm import batch_norm, normalised
from fedbench.kernels.edges import Edges, channel_sum, edge_softmax, products, weighted_sum
from fedbench.kernels.self_attention import attend, sequences

CPU = torch.device("cpu")


def random_edges(seed: int, nodes: int) -> Edges:
    upper = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < 0.5, 1)
    targets, sources = np.nonzero(upper | upper.T)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=nodes))])
    arrays = (indptr, sources, targets, np.argsort(sources, kind="stable"))
    return Edges(*(torch.from_numpy(array.astype(np.int32)) for array in arrays))


def normal(*shape: int) -> Tensor:
    values = np.random.default_rng(shape[0]).standard_normal(shape)
    return torch.from_numpy(values).requires_grad_()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 7))
def test_edges_against_dense_matrices(seed: int, nodes: int) -> None:
    edges = random_edges(seed, nodes)
    weights, x, y = normal(max(1, len(edges)))[: len(edges)], normal(nodes, 3), normal(nodes + 1, 3)[1:]
    to, of = edges.targets.long(), edges.sources.long()
    assert torch.equal(edges.targets[edges.reverse.long()], edges.sources)
    dense = torch.zeros(nodes, nodes, dtype=torch.float64).index_put((to, of), weights)
    assert torch.allclose(weighted_sum(edges, weights, x), dense @ x)
    assert torch.allclose(products(edges, x, y), (x @ y.T)[to, of])
    by_channel = weights.unsqueeze(1) * torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    channels = [factor * dense @ x[:, k] for k, factor in enumerate((1.0, -2.0, 0.5))]
    assert torch.allclose(channel_sum(edges, by_channel, x), torch.stack(channels, dim=1))
    shares = edge_softmax(edges, 100 * by_channel)
    for node in range(nodes):
        own = to == node
        assert torch.allclose(shares[own], (100 * by_channel[own]).softmax(0))


def test_edges_differentiate() -> None:
    edges = random_edges(3, 5)
    weights, x, wide = normal(len(edges)), normal(5, 2), normal(len(edges), 2)
    assert gradgradcheck(lambda w, v: weighted_sum(edges, w, v) ** 2, (weights, x))
    assert gradgradcheck(lambda a, b: products(edges, a, b) ** 2, (x, normal(5, 2)))
    assert gradcheck(lambda w, v: channel_sum(edges, w, v) ** 2, (wide, x))
    assert gradcheck(lambda w: edge_softmax(edges, w) ** 2, wide)


def test_no_product_where_weights_are_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient by weights takes two gathers over all edges: it is made where somebody asks for it."""
    edges, asked = random_edges(3, 5), []
    monkeypatch.setattr(kernel, "products", lambda *of: asked.append(1) or products(*of))
    weights, x = normal(len(edges)), normal(5, 2)
    by_x = torch.autograd.grad(weighted_sum(edges, weights.detach(), x).square().sum(), x)[0]
    assert not asked
    both = torch.autograd.grad(weighted_sum(edges, weights, x).square().sum(), (weights, x))
    assert asked and torch.equal(both[1], by_x)
    alone = torch.autograd.grad(weighted_sum(edges, weights, x.detach()).square().sum(), weights)[0]
    assert torch.equal(both[0], alone)


@pytest.mark.parametrize("dropped", [False, True])
def test_attention_stays_inside_sequences(dropped: bool) -> None:
    """Two clients, sequences of 3, 1 and 5, and of 2 rows, a row of padding; weights listed sequence by sequence."""
    starts, heads, slots = [np.array([0, 3, 4, 9]), np.array([0, 2])], 2, 9
    made = sequences(starts, slots, torch.float64, CPU)
    assert made.weights == (9 + 1 + 25, 4)
    mixed = normal(2 * slots, 3 * 4)
    listed = normal(39, heads).detach() if dropped else None
    out, first = attend(mixed, made, heads, listed), 0
    for client, start in enumerate(starts):
        for begin, end in pairwise(start):
            own = mixed[client * slots + begin : client * slots + end]
            n = len(own)
            for head in range(heads):
                query, key, value = (own[:, part * 4 + head * 2 : part * 4 + head * 2 + 2] for part in range(3))
                shares = (query @ key.T / 2**0.5).softmax(1)
                if listed is not None:
                    shares = shares * listed[first : first + n * n, head].view(n, n)
                found = out[client * slots + begin : client * slots + end, head * 2 : head * 2 + 2]
                assert torch.allclose(found, shares @ value)
            first += n * n
    assert not out[slots + 2 :].any()
    assert gradcheck(lambda m: attend(m, made, heads, listed), mixed)


def test_batch_norm_goes_by_each_clients_own_rows() -> None:
    x, scale, shift = normal(2, 6, 3), normal(2, 3), normal(2, 3).detach() + 1
    out, mean, variance = batch_norm(x, (4, 6), scale, shift)
    for client, size in enumerate((4, 6)):
        plain = torch.nn.functional.batch_norm(x[client, :size], None, None, scale[client], shift[client], True)
        assert torch.allclose(out[client, :size], plain) and not out[client, size:].any()
        assert torch.allclose(mean[client], x[client, :size].mean(0))
        assert torch.allclose(variance[client], x[client, :size].var(0, unbiased=False))
        own = (each[client : client + 1] for each in (x, mean, variance, scale, shift))
        assert torch.allclose(normalised(*own)[0, :size], plain)


def test_batch_norm_of_one_row_or_none() -> None:
    x, scale, shift = normal(2, 2, 3), normal(2, 3), normal(2, 3)
    out, _, variance = batch_norm(x, (1, 0), scale, shift)
    assert torch.allclose(out[0, 0], shift[0]) and not out[1].any()
    assert torch.equal(variance, torch.zeros_like(variance))
    gradients = torch.autograd.grad(out.sum(), (x, scale, shift))
    assert not gradients[0].any() and not gradients[1].any()
