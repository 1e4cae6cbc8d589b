"""Batches made several at a time are those made one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix
from fedbench.tasks.graph.block import GraphBlock
from fedbench.tasks.task import Place
from tests.tasks.toy_graphs import toy_graphs

DOUBLE = Place(torch.float64)


def dense(matrix: SparseMatrix) -> Tensor:
    return matrix @ torch.eye(matrix.shape[1], dtype=torch.float64)


def same(ours: SparseMatrix | None, other: SparseMatrix | None) -> bool:
    if ours is None or other is None:
        return ours is other
    return torch.equal(dense(ours), dense(other)) and torch.equal(dense(ours.transposed), dense(other).T)


@pytest.mark.parametrize("client", [0, 2])  # with colours and without
@pytest.mark.parametrize("extra", [False, True])
def test_several_batches_are_the_single_ones(client: int, extra: bool) -> None:
    graphs = toy_graphs(graphs=40).client_data[client]
    assert graphs.coloured == (client == 0)
    if extra:
        graphs = replace(graphs, extra=np.random.default_rng(0).random((len(graphs.start) - 1, 2)))
    block = GraphBlock([graphs], DOUBLE)
    chosen = np.split(np.random.default_rng(1).permutation(40), range(4, 40, 4))
    assert len(chosen) == 10  # more than are made at once
    for ours, own in zip(block.batches([[own] for own in chosen]), chosen, strict=True):
        other = block.batch([own])
        for name in ("sizes", "slots", "graph_sizes", "graph_slots"):
            assert getattr(ours, name) == getattr(other, name)
        for name in ("degrees", "labels", "train_counts"):
            assert torch.equal(getattr(ours, name), getattr(other, name))
        assert (ours.extra is None) == (not extra) and (ours.extra is None or torch.equal(ours.extra, other.extra))
        for name in ("first", "spread", "pool"):
            assert same(getattr(ours, name), getattr(other, name)), name
        assert same(ours.neighbours(2), other.neighbours(2))
