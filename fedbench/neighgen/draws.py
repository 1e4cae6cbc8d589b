"""NeighGen's random numbers: noise, dropout and samples, each from the stream of (seed, client, phase, epoch)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import torch
from torch import Tensor

from fedbench import seeds as streams
from fedbench.kernels.dropout import draw_keep


class Phase(IntEnum):
    """What random numbers are drawn for."""

    LOCAL = 0
    FEDERATED = 1
    MENDING = 2


class Layer(IntEnum):
    """Where units are dropped."""

    ENCODER = 0
    GENERATOR = 1
    CLASSIFIER = 2


@dataclass(frozen=True)
class Draws:
    """The random numbers of one client in one epoch.

    Args:
        seed: run seed.
        client: client.
        phase: phase.
        epoch: from 0.
        dropout: chance that a unit is dropped.
        dtype: of what is drawn.
        device: where it is wanted.
    """

    seed: int
    client: int
    phase: Phase
    epoch: int
    dropout: float
    dtype: torch.dtype
    device: torch.device

    def noise(self, nodes: int, width: int) -> Tensor:
        """Return N(0, 1) [nodes, width], fGen's noise."""
        drawn = self._generator("noise").standard_normal((nodes, width))
        return torch.from_numpy(drawn).to(device=self.device, dtype=self.dtype)

    def drop(self, values: Tensor, layer: Layer) -> Tensor:
        """Return ``values`` with units dropped and the rest scaled by 1 / (1 - dropout)."""
        if self.dropout == 0.0:
            return values
        keep = np.empty(values.numel(), dtype=np.uint8)
        key = streams.key("neighgen dropout", self.seed, self.client)
        draw_keep(keep, key, (int(self.phase), self.epoch, int(layer)), self.dropout)
        mask = torch.from_numpy(keep).view(values.shape).to(device=self.device, dtype=self.dtype)
        return values * mask.div_(1.0 - self.dropout)

    def sampler(self, other: int) -> np.random.Generator:
        """Return the generator that samples from another client's graph."""
        return self._generator("sample", other)

    def _generator(self, what: str, *more: int) -> np.random.Generator:
        return streams.generator("neighgen", what, self.seed, self.client, int(self.phase), self.epoch, *more)
