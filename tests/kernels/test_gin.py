"""The graph isomorphism network's one step against the formulas as written, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from fedbench.kernels.gin import Graphs, gin
from fedbench.kernels.sparse import SparseMatrix, from_rows

CLIENTS, ROWS, NODES, GRAPHS, FEATURES, WIDTH, CLASSES = 2, 3, 5, 2, 4, 3, 2
SCALE = 1.25


def block_diagonal(blocks: Sequence[np.ndarray], symmetric: bool = False) -> SparseMatrix:
    starts = [np.concatenate([[0], np.cumsum((block != 0).sum(1))]) for block in blocks]
    columns, values = [np.nonzero(block)[1] for block in blocks], [block[block != 0] for block in blocks]
    shape = blocks[0].shape
    kind = {"dtype": torch.float64, "device": torch.device("cpu"), "symmetric": symmetric}
    return from_rows(starts, columns, values, shape, **kind)


def batch(layers: int, spread: bool, dropout: bool) -> Graphs:
    random = np.random.default_rng(0)
    upper = [np.triu(random.integers(0, 2, (NODES, NODES)), 1) for _ in range(CLIENTS)]
    around = [half + half.T + np.eye(NODES) for half in upper]
    rows = ROWS if spread else NODES
    own = [np.eye(rows)[random.integers(0, rows, NODES)] for _ in range(CLIENTS)]
    member = [np.eye(GRAPHS)[np.sort(random.integers(0, GRAPHS, NODES))].T for _ in range(CLIENTS)]
    sizes = [(NODES, WIDTH)] * layers + [(GRAPHS, WIDTH)]
    keep = [torch.from_numpy(random.integers(0, 2, (CLIENTS, *size)).astype(np.uint8)) for size in sizes]
    return Graphs(
        first=block_diagonal([random.integers(0, 3, (rows, FEATURES)).astype(float) for _ in range(CLIENTS)]),
        degrees=torch.from_numpy(random.integers(1, 4, (CLIENTS, rows, 1)).astype(float)),
        spread=block_diagonal(own) if spread else None,
        between=[block_diagonal(around, symmetric=True)] * (layers - 1),
        pool=block_diagonal(member),
        keep=keep if dropout else [None] * (layers + 1),
        scale=SCALE if dropout else 1.0,
    )


def drawn(layers: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    maps = [(FEATURES, WIDTH), *[(WIDTH, WIDTH)] * (2 * layers + 1)]
    shapes = [shape for width in maps for shape in (width, width[1:])] + [(CLASSES, WIDTH), (CLASSES,)]
    return [torch.randn(CLIENTS, *s, dtype=torch.float64, generator=generator).requires_grad_() for s in shapes]


def as_written(graphs: Graphs, parameters: Sequence[Tensor]) -> Tensor:
    """Apply the formulas to the sums over neighbours, client by client and map by map."""

    def times(matrix: SparseMatrix, x: Tensor) -> Tensor:
        return (matrix @ x.flatten(0, 1)).view(CLIENTS, -1, x.shape[2])

    def mapped(x: Tensor, place: int) -> Tensor:
        return x @ parameters[2 * place] + parameters[2 * place + 1].unsqueeze(1)

    def dropped(x: Tensor, keep: Tensor | None) -> Tensor:
        return x if keep is None else x * keep * SCALE

    x = times(graphs.first, parameters[0]) + graphs.degrees * parameters[1].unsqueeze(1)
    for layer, keep in enumerate(graphs.keep[:-1]):
        x = times(graphs.between[layer - 1], x) if layer else x
        x = torch.relu(mapped(torch.relu(mapped(x, 2 * layer + 1)), 2 * layer + 2))
        x = times(graphs.spread, x) if layer == 0 and graphs.spread is not None else x
        x = dropped(x, keep)
    x = dropped(torch.relu(mapped(times(graphs.pool, x), len(parameters) // 2 - 2)), graphs.keep[-1])
    return x @ parameters[-2].transpose(1, 2) + parameters[-1].unsqueeze(1)


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("dropout", [False, True])
def test_outputs_and_gradients_are_those_of_the_formulas(layers: int, spread: bool, dropout: bool) -> None:
    graphs, parameters = batch(layers, spread, dropout), drawn(layers)
    ours, plain = gin(graphs, parameters), as_written(graphs, parameters)
    assert torch.allclose(ours, plain, rtol=0, atol=1e-12) and float(plain.detach().std()) > 0.01
    weight = torch.arange(plain.numel(), dtype=torch.float64).view_as(plain) - 2.5
    found, expected = (torch.autograd.grad((out * weight).sum(), parameters) for out in (ours, plain))
    for mine, theirs in zip(found, expected, strict=True):
        assert torch.allclose(mine, theirs, rtol=0, atol=1e-10)
    assert all(float(gradient.abs().max()) > 0 for gradient in expected)


def test_gradients_by_differences() -> None:
    graphs, parameters = batch(2, True, True), drawn(2)
    assert gradcheck(lambda *own: gin(graphs, own), parameters, atol=1e-6)


def test_a_second_derivative_is_refused() -> None:
    parameters = drawn(2)
    with pytest.raises(RuntimeError, match="differentiable once only"):
        torch.autograd.grad(gin(batch(2, True, False), parameters).sum(), parameters, create_graph=True)
