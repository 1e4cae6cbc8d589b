"""The greedy feature loss: generated neighbours are pulled to the nearest of some true nodes.

min_u ||g - x_u||^2 has the gradient of ||g - x_u*||^2 at its argmin u*. So u* is searched without gradient, and the
loss is a sum of squared distances to chosen nodes, each split as ||g||^2 - 2 g.x + ||x||^2 so that x stays sparse.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.neighgen.operators import Features


@dataclass
class Pull:
    """A weighted sum of squared distances from generated neighbours to chosen nodes, collected term by term.

    ``weight`` [n] is how much generated neighbour g is pulled in all, ``target`` [n, width] the weighted sum of the
    features it is pulled to, ``constant`` the weighted sum of their squared norms.
    """

    weight: Tensor
    target: Tensor
    constant: Tensor

    @classmethod
    def none(cls, generated: Tensor) -> Pull:
        """Return an empty sum for generated neighbours [n, width]."""
        zeros = torch.zeros_like(generated)
        return cls(zeros.new_zeros(len(generated)), zeros, zeros.new_zeros(()))

    def add(self, rows: Tensor, features: Features, nodes: Tensor) -> None:
        """Add ||g_rows[i] - x_nodes[i]||^2 for all i."""
        self.weight.index_add_(0, rows, torch.ones_like(self.weight)[: len(rows)])
        place, column, value = features.entries(nodes)
        self.target.view(-1).index_add_(0, rows[place] * self.target.shape[1] + column, value)
        self.constant += features.squares[nodes].sum()

    def plus(self, other: Pull, factor: float) -> Pull:
        """Return this sum + factor * other."""
        return Pull(
            self.weight + factor * other.weight,
            self.target.add(other.target, alpha=factor),
            self.constant + factor * other.constant,
        )

    def of(self, generated: Tensor) -> Tensor:
        """Return the sum for generated neighbours, differentiable."""
        squares = (self.weight * generated.square().sum(1)).sum()
        return squares - 2.0 * (generated * self.target).sum() + self.constant


def add_nearest_of_pairs(pull: Pull, generated: Tensor, rows: Tensor, features: Features, nodes: Tensor) -> None:
    """Pull each generated neighbour to its nearest candidate; pair i offers node nodes[i] to generated row rows[i].

    Rows without a pair are left alone; the first of equally near candidates wins.
    """
    place, column, value = features.entries(nodes)
    inner = generated.new_zeros(len(nodes)).index_add_(0, place, value * generated[rows[place], column])
    distance = features.squares[nodes] - 2.0 * inner
    least = distance.new_full((len(generated),), torch.inf).scatter_reduce_(0, rows, distance, "amin")
    winners = torch.nonzero(distance == least[rows]).squeeze(1)
    first = torch.full((len(generated),), len(nodes), device=rows.device)
    first.scatter_reduce_(0, rows[winners], winners, "amin")
    pulled = torch.nonzero(first < len(nodes)).squeeze(1)
    pull.add(pulled, features, nodes[first[pulled]])


def nearest_of_all(generated: Tensor, features: Features) -> Tensor:
    """Return for each generated neighbour the nearest of all nodes, int64 [n]. Largest intermediate: nodes x n."""
    distance = features.matrix @ generated.T.contiguous()
    return first_least(distance.mul_(-2.0).add_(features.squares.unsqueeze(1)))


def first_least(values: Tensor, block: int = 64) -> Tensor:
    """Return the row of each column's least value, the first of equal ones, int64 [columns].

    The same as ``values.argmin(0)``, faster on a CPU: the least of each block of rows is a vectorised `amin`,
    and only the block that has it is looked through.
    """
    least = torch.stack([part.amin(0) for part in values.split(block)])
    within = torch.arange(block, device=values.device).unsqueeze(1)
    rows = (least.argmin(0) * block + within).clamp_max(len(values) - 1)
    return rows.gather(0, values.gather(0, rows).argmin(0, keepdim=True)).squeeze(0)


def add_nearest_of_all(pull: Pull, generated: Tensor, rows: Tensor, features: Features, chunk: int) -> None:
    """Pull each of ``rows`` to the nearest of all nodes, ``chunk`` rows at a time."""
    for part in rows.split(chunk):
        pull.add(part, features, nearest_of_all(generated[part], features))


def pairs(rows: Tensor, start: Tensor, stop: Tensor) -> tuple[Tensor, Tensor]:
    """Return (rows[i] repeated, position) for every position in range(start[i], stop[i])."""
    length = stop - start
    before = torch.cumsum(length, 0) - length
    place = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), length)
    return rows[place], torch.arange(len(place), device=rows.device) + (start - before)[place]
