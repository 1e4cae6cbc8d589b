"""FedGTA's client side on packed graphs: label propagation, smoothing confidence, moments of the propagated labels.

``labels`` are stacks [clients, slots, classes]; a padding slot has degree 0, no neighbour, and counts in no mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix, sparse_matrix
from fedbench.methods.exchange import REMADE
from fedbench.tasks.node.arrays import ClientGraph, normalised_adjacency, offsets
from fedbench.tasks.node.block import NodeBlock

_LOG_OFFSET = 1e-8
"""Added inside the logarithm (released code)."""


@dataclass(frozen=True)
class Neighbours:
    """S = D^-1/2 (A + I) D^-1/2 of packed clients, block-diagonal, and their nodes' degrees [clients, slots]."""

    matrix: SparseMatrix
    degrees: Tensor


@dataclass(frozen=True)
class Neighbourhoods:
    """The clients' graphs, a list a seed; a pack's `Neighbours` are made when first asked for and kept."""

    graphs: Sequence[Sequence[ClientGraph]] = field(metadata=REMADE)
    self_loops: bool
    made: dict[range, Neighbours] = field(default_factory=dict, metadata=REMADE)

    def of(self, clients: range, block: NodeBlock) -> Neighbours:
        """Return the neighbours of a pack's clients, all seeds, in the layout of ``block``."""
        if clients not in self.made:
            packed = [graph for of_seed in self.graphs for graph in of_seed[clients.start : clients.stop]]
            self.made[clients] = _neighbours(packed, block, self.self_loops)
        return self.made[clients]


def _neighbours(packed: Sequence[ClientGraph], block: NodeBlock, self_loops: bool) -> Neighbours:
    place: dict[str, Any] = {"dtype": block.present.dtype, "device": block.present.device}
    parts = [normalised_adjacency(graph) for graph in packed]
    rows, columns = (offsets(list(a), block.slots) for a in zip(*((p.rows, p.columns) for p in parts), strict=True))
    values, size = np.concatenate([part.values for part in parts]), len(packed) * block.slots
    ends = offsets([graph.edges[0] for graph in packed], block.slots)
    degrees = torch.from_numpy(np.bincount(ends, minlength=size)).to(**place).view(len(packed), block.slots)
    matrix = sparse_matrix(rows, columns, values, (size, size), symmetric=True, **place)
    return Neighbours(matrix, degrees + block.present if self_loops else degrees)


def propagated(matrix: SparseMatrix, start: Tensor, steps: int, share: float, held: Tensor | None) -> Tensor:
    """Return Y^steps of Y^l = share S Y^(l-1) + (1 - share) Y^0, and + Y^0 in every step for ``held`` nodes.

    Args:
        matrix: S.
        start: Y^0.
        steps: number of propagations.
        share: of the neighbourhood.
        held: flat slots of nodes whose labels are known, or None.
    """
    flat = start.reshape(-1, start.shape[2])
    labels, constant = flat, (1.0 - share) * flat
    if held is not None:
        constant = constant.index_add(0, held, flat[held])
    for _ in range(steps):
        labels = share * (matrix @ labels) + constant
    return labels.view_as(start)


def confidence(labels: Tensor, degrees: Tensor) -> Tensor:
    """Return sum_i d_i sum_c (1/e + y_ic log y_ic), [clients]; large where well-linked nodes have a sure label."""
    surety = (exp(-1) + labels * torch.log(labels + _LOG_OFFSET)).sum(2)
    return (degrees * surety).sum(1)


def moments(labels: Tensor, block: NodeBlock, order: int, kinds: Sequence[str]) -> Tensor:
    """Return each client's moments 1 .. order of every class over its nodes, [clients, kinds * order * classes].

    Args:
        labels: propagated labels.
        block: says which slots hold nodes.
        order: highest moment.
        kinds: ``raw`` (mean of y^p), ``central`` (mean of (y - mean)^p), or both.
    """
    present = block.present.unsqueeze(2)
    nodes = present.sum(1)
    mean = (labels * present).sum(1) / nodes
    centre = {"raw": torch.zeros_like(mean), "central": mean}
    parts = [
        ((labels - centre[kind].unsqueeze(1)) ** power * present).sum(1) / nodes
        for kind in kinds
        for power in range(1, order + 1)
    ]
    return torch.cat(parts, dim=1)
