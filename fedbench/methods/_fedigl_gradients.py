"""FedIGL's gradients of the task loss by f_I and f_V: means over a round, their averages, and the two terms on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from fedbench.methods._own_blocks import OwnBlocks
from fedbench.methods.exchange import REMADE
from fedbench.models.parameters import Parameters
from fedbench.tasks.graph.coloured_edges import ColouredEdgeBlock


@dataclass
class GradientState:
    """What server and clients remember.

    Attributes:
        sums: of a round's gradients by name, [S, K, ...].
        counted: how many, [S, K].
        averages: gbar and hbar of the last round by name, [S, 1, ...]; empty before there are any.
        blocks: every pack's data by edges and colours.
    """

    sums: dict[str, Tensor]
    counted: Tensor
    averages: dict[str, Tensor] = field(default_factory=dict)
    blocks: OwnBlocks[ColouredEdgeBlock] = field(default_factory=lambda: OwnBlocks(ColouredEdgeBlock), metadata=REMADE)

    @torch.no_grad()
    def add(self, gradients: Parameters, taking: Tensor, clients: range, *, last_only: bool) -> None:
        """Count a step's gradients, name to [S * k, ...], of the clients that take it, bool [S, k]."""
        part = slice(clients.start, clients.stop)
        before = torch.where(taking, 0.0, 1.0) if last_only else torch.ones_like(self.counted[:, part])
        for name, gradient in gradients.items():
            sums = self.sums[name][:, part]
            sums.mul_(_over(before, sums)).add_(gradient.view_as(sums) * _over(taking, sums))
        self.counted[:, part] = before * self.counted[:, part] + taking

    def means(self, clients: range) -> dict[str, Tensor]:
        """Return the clients' mean gradients, name to [S, k, ...]; 0 where nothing was counted."""
        part = slice(clients.start, clients.stop)
        count = self.counted[:, part].clamp(min=1)
        return {name: sums[:, part] / _over(count, sums[:, part]) for name, sums in self.sums.items()}

    def renew(self, averages: Mapping[str, Tensor]) -> None:
        """Begin a new round with the last one's averages."""
        self.averages = dict(averages)
        self.counted.zero_()
        for sums in self.sums.values():
            sums.zero_()


def squared_apart(gradients: Parameters, averages: Parameters, seeds: int) -> Tensor:
    """Return ||g_k - gbar||^2 over all of ``gradients``, name to [S * k, ...], [S * k]."""
    parts = []
    for name, gradient in gradients.items():
        own = gradient.view(seeds, -1, *gradient.shape[1:]) - averages[name]
        parts.append(own.flatten(2).square().sum(2).flatten())
    return torch.stack(parts).sum(0)


def hinge(squares: Tensor, least: float) -> Tensor:
    """Return max(0, least - distance)^2 from squared distances; without gradient at distance 0, where it has none."""
    distance = squares.clamp(min=torch.finfo(squares.dtype).tiny).sqrt()
    return (least - distance).clamp(min=0).square()


def _over(figures: Tensor, stack: Tensor) -> Tensor:
    return figures.to(stack.dtype).view(*figures.shape, *(1,) * (stack.dim() - 2))
