"""What the engine hands to a method: the cell, what was trained, what the server sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fedbench.kernels.dropout import DropoutStream
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.tasks.task import Shape

REMADE = {"remade": True}
"""Metadata of a memory's field that every start makes alike (data, what follows from it): checkpoints leave it out."""


@dataclass(frozen=True)
class Cell:
    """What a method may know of the problem before round 1.

    Args:
        shapes: widths of every client's data.
        seeds: run seeds computed at once, S of them.
        nodes: int64[K], nodes (data points) per client.
        train_nodes: int64[K], training nodes per client.
        dtype: of all parameters.
        device: where they live.
    """

    shapes: tuple[Shape, ...]
    seeds: tuple[int, ...]
    nodes: Tensor
    train_nodes: Tensor
    dtype: torch.dtype
    device: torch.device

    @property
    def clients(self) -> int:
        """Number of clients K."""
        return len(self.nodes)

    @property
    def features(self) -> int:
        """Input width of the first client; of all, where data are alike."""
        return self.shapes[0].features


@dataclass(frozen=True)
class Traffic:
    """Bytes of all clients together."""

    up: int = 0
    down: int = 0


@dataclass(frozen=True)
class Preparation:
    """What clients train on.

    Args:
        data: a list of clients' data for each seed.
        traffic: what was sent to make them.
        diagnostics: what explains them, for the record; one mapping a seed, or none.
    """

    data: Sequence[Sequence[Any]]
    traffic: Traffic = Traffic()
    diagnostics: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True)
class LocalStep:
    """One local step of packed clients.

    Args:
        network: theirs.
        parameters: being trained, name to [S * k, ...].
        block: the step's data.
        dropout: its dropout masks.
        clients: who they are.
        memory: the method's.
        round: communication round, from 1.
        epoch: local epoch of the round, from 0.
    """

    network: Network
    parameters: Parameters
    block: Any
    dropout: DropoutStream
    clients: range
    memory: Any
    round: int
    epoch: int


@dataclass(frozen=True)
class Trained:
    """Clients after their local steps of a round.

    Args:
        network: their network.
        effective: parameters as they are at evaluation (`Network.effective`), name to [S, k, ...].
        local: parameters as trained, name to [S, k, ...].
        block: their data, packed.
        clients: who they are.
        memory: the method's.
    """

    network: Network
    effective: Parameters
    local: Parameters
    block: Any
    clients: range
    memory: Any

    @property
    def packed(self) -> Parameters:
        """`effective` as networks take it, [S * k, ...]."""
        return {name: stack.flatten(0, 1) for name, stack in self.effective.items()}


@dataclass(frozen=True)
class Exchange:
    """What the server knows when it combines uploads.

    Args:
        cell: sizes, seeds, device.
        round: communication round, from 1.
        memory: the method's; may be changed.
        received: shared parameters as clients had received them; empty unless the method is ``anchored``.
    """

    cell: Cell
    round: int
    memory: Any
    received: Parameters
