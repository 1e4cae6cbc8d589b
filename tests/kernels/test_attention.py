"""Graph attention against PyG's GATConv."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch_geometric.nn import GATConv

from fedbench.kernels.attention import attend, neighbourhoods

CPU = torch.device("cpu")


def graphs(nodes: int, clients: int, seed: int = 0) -> list[sparse.csr_matrix]:
    random = np.random.default_rng(seed)
    return [
        sparse.csr_matrix((random.random((nodes, nodes)) < 0.2) | np.eye(nodes, dtype=bool)) for _ in range(clients)
    ]


def test_values_and_gradients_are_pygs() -> None:
    parts, generator = graphs(9, 2), torch.Generator().manual_seed(0)
    x = torch.randn(18, 5, generator=generator, dtype=torch.float64)
    conv = GATConv(5, 4, add_self_loops=False, bias=False).double()
    rows, columns = sparse.block_diag(parts).nonzero()
    expected = conv(x, torch.from_numpy(np.stack([columns, rows])).long())
    weights = [p.detach().clone().requires_grad_() for p in (conv.lin.weight, conv.att_src, conv.att_dst)]
    h = x @ weights[0].T
    found = attend(neighbourhoods(parts, CPU), h, h @ weights[1].view(-1), h @ weights[2].view(-1))
    assert torch.allclose(found, expected, atol=1e-12)
    push = torch.randn(18, 4, generator=generator, dtype=torch.float64)
    theirs = torch.autograd.grad((expected * push).sum(), [conv.lin.weight, conv.att_src, conv.att_dst])
    for ours, other in zip(torch.autograd.grad((found * push).sum(), weights), theirs, strict=True):
        assert torch.allclose(ours, other, atol=1e-11)


def test_large_logits_and_lonely_nodes() -> None:
    graph = neighbourhoods([sparse.csr_matrix(np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]]))], CPU)
    vectors = torch.tensor([[1.0], [2.0], [4.0]])
    found = attend(graph, vectors, torch.tensor([0.0, 1000.0, 1000.0]), torch.zeros(3))
    assert found.flatten().tolist() == [3.0, 0.0, 1.0]
