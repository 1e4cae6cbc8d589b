"""The clients of a cell as the engine computes them: parameters, optimiser and data of one packed block.

Parameters are stacks [S * K, ...]; methods and the server see the same memory as [S, K, ...].
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.adam import AdamSettings, StackedAdam
from fedbench.kernels.dropout import DropoutStream, client_keys
from fedbench.methods.base import Cell
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters, draw
from fedbench.tasks.node import NodeBlock


@dataclass(frozen=True)
class Cohort:
    """Everything that changes while a cell trains, and the data it trains on."""

    cell: Cell
    network: Network
    block: NodeBlock
    parameters: dict[str, Tensor]
    optimiser: StackedAdam
    dropout_keys: list[tuple[int, int]]
    dropout: float

    def by_client(self, values: Parameters | None = None) -> dict[str, Tensor]:
        """Return the stacks (all parameters if None) as views [S, K, ...]."""
        stacks = self.parameters if values is None else values
        leading = (len(self.cell.seeds), self.cell.clients)
        return {name: stack.view(*leading, *stack.shape[1:]) for name, stack in stacks.items()}

    def dropout_stream(self, round: int, epoch: int) -> DropoutStream:
        """Return the dropout masks of one local epoch."""
        block = self.block
        return DropoutStream(
            self.dropout_keys, block.sizes, block.slots, self.dropout, round, epoch, block.present.device
        )


def start_cohort(cell: Cell, network: Network, block: NodeBlock, training: TrainingSettings) -> Cohort:
    """Draw initial weights (the same for all clients of a seed) and make a fresh optimiser."""
    parameters = initial_parameters(cell, network)
    optimiser = StackedAdam(parameters, AdamSettings(training.learning_rate, training.weight_decay))
    keys = [key for seed in cell.seeds for key in client_keys(seed, range(cell.clients))]
    return Cohort(cell, network, block, parameters, optimiser, keys, training.model.dropout)


def initial_parameters(cell: Cell, network: Network) -> dict[str, Tensor]:
    """Return the stacks [S * K, ...] of initial parameters."""
    declared = network.parameters()
    drawn = [draw(declared, seed) for seed in cell.seeds]
    return {name: torch.cat([_copies(values[name], cell) for values in drawn]).requires_grad_() for name in declared}


def _copies(value: object, cell: Cell) -> Tensor:
    tensor = torch.as_tensor(value, dtype=cell.dtype, device=cell.device)
    return tensor.expand(cell.clients, *tensor.shape)
