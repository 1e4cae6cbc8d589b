"""Dropout masks from counter-based streams: the same (seed, client, round, step, layer) always drops the same units.

A client's mask doesn't depend on which clients or seeds it is packed with, nor on the device: bits are drawn by Philox
on the CPU and copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fedbench import seeds as streams

_LEVELS = 1 << 16


@dataclass(frozen=True)
class DropoutStream:
    """Dropout masks of one block in one local step.

    Args:
        keys: a Philox key per packed client, from `client_keys`.
        sizes: nodes per packed client.
        slots: nodes per client after padding.
        probability: chance that a unit is dropped; other than 1/2 it is rounded to a multiple of 2**-16.
        round: communication round, from 1.
        steps: local steps that each packed client has taken before in the round.
        device: where masks are wanted.
    """

    keys: Sequence[tuple[int, int]]
    sizes: Sequence[int]
    slots: int
    probability: float
    round: int
    steps: Sequence[int]
    device: torch.device

    @property
    def scale(self) -> float:
        """Factor of kept units, 1 / (1 - probability)."""
        return 1.0 / (1.0 - self.probability)

    def keep(self, layer: int, width: int) -> Tensor | None:
        """Return the uint8 mask [clients, slots, width] of one layer (padding is 0), or None without dropout."""
        if self.probability == 0.0:
            return None
        mask = np.zeros((len(self.keys), self.slots * width), dtype=np.uint8)
        philox = np.random.Philox(0)
        for row, key, size, step in zip(mask, self.keys, self.sizes, self.steps, strict=True):
            _rewind(philox, key, (self.round, step, layer))
            _fill(row[: size * width], philox, self.probability)
        return torch.from_numpy(mask).view(len(self.keys), self.slots, width).to(self.device)


def client_keys(seed: int, clients: Sequence[int]) -> list[tuple[int, int]]:
    """Return the stream keys of a seed's clients."""
    return [streams.key("dropout", seed, client) for client in clients]


def draw_keep(out: np.ndarray, key: tuple[int, int], counter: tuple[int, int, int], probability: float) -> None:
    """Fill ``out`` (uint8, one dimension) with 1 where a unit is kept."""
    philox = np.random.Philox(key=np.array(key, dtype=np.uint64), counter=np.array([0, *counter], dtype=np.uint64))
    _fill(out, philox, probability)


def _rewind(philox: np.random.Philox, key: tuple[int, int], counter: tuple[int, int, int]) -> None:
    """Put a generator where a new one with this key and counter would start; a new one costs eight times as much."""
    state = philox.state
    state["state"] = {"counter": np.array([0, *counter], np.uint64), "key": np.array(key, np.uint64)}
    state["buffer_pos"] = len(state["buffer"])
    philox.state = state


def _fill(out: np.ndarray, philox: np.random.Philox, probability: float) -> None:
    if probability == 0.5:
        words = philox.random_raw((out.size + 63) // 64)
        out[:] = np.unpackbits(words.view(np.uint8), count=out.size)
    else:
        words = philox.random_raw((out.size + 3) // 4)
        out[:] = words.view(np.uint16)[: out.size] >= round(probability * _LEVELS)
