"""Mixing matrices W and the distances and similarities they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

from fedbench.methods.exchange import Cell
from fedbench.models.parameters import Parameters

Weighing = Literal["uniform", "nodes", "train_nodes"]


def uniform_rows(cell: Cell) -> Tensor:
    """Return W with all entries 1 / K."""
    return rows_of(torch.ones(cell.clients), cell)


def sizes_by(kind: Weighing, cell: Cell) -> Tensor:
    """Return what clients count by, [K]: 1, or their data points or training points (nodes, graphs or pairs)."""
    sizes = {"uniform": torch.ones(cell.clients), "nodes": cell.nodes, "train_nodes": cell.train_nodes}
    return sizes[kind]


def rows_by(kind: Weighing, cell: Cell) -> Tensor:
    """Return W whose rows are the clients' shares by that."""
    return rows_of(sizes_by(kind, cell), cell)


def rows_of(weights: Tensor, cell: Cell) -> Tensor:
    """Return W whose rows are all ``weights`` [K], scaled to sum 1."""
    row = (weights.double() / weights.double().sum()).to(dtype=cell.dtype, device=cell.device)
    return row.expand(len(cell.seeds), cell.clients, cell.clients)


def cosine(vectors: Tensor) -> Tensor:
    """Return pairwise cosines [S, K, K] of client vectors [S, K, d]."""
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    return unit @ unit.transpose(1, 2)


def similarity_mixing(similarity: Tensor, temperature: float) -> Tensor:
    """Return W[k, l] = exp(temperature * sim(k, l)) / sum_r exp(temperature * sim(k, r))."""
    return torch.softmax(temperature * similarity, dim=-1)


def stack_shape(values: Mapping[str, Tensor]) -> tuple[int, int]:
    """Return (S, K) of a mapping of stacks."""
    first = next(iter(values.values()))
    return first.shape[0], first.shape[1]


def squared_distance(local: Parameters, received: Parameters) -> Tensor:
    """Return the squared Euclidean distance over all received parameters, [S, K]."""
    seeds, clients = stack_shape(received)
    distances = [(local[name] - anchor).view(seeds, clients, -1).square().sum(-1) for name, anchor in received.items()]
    return torch.stack(distances).sum(0)
