"""The clients of a cell as the engine computes them.

Parameters are stacks [S * K, ...], seed-major. A `Pack` is a run of clients computed in one step; its parameters are
views into the stacks, so the server works on all clients at once whatever the packing. Methods see the same memory as
[S, K, ...].
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.optimisers import Optimiser, optimiser_of
from fedbench.engine.packing import client_packs
from fedbench.kernels.dropout import DropoutStream, client_keys
from fedbench.methods.exchange import Cell
from fedbench.models.network import Network
from fedbench.models.parameters import Parameter, Parameters, draw
from fedbench.tasks.node import NodeBlock, pack
from fedbench.tasks.node_arrays import ClientGraph, NodeProblem
from fedbench.tasks.node_batches import Member


@dataclass(frozen=True)
class Pack:
    """Clients computed in one step.

    Args:
        clients: which of the cell's clients.
        block: their data, for every seed computed at once.
        parameters: name to [S * clients, ...], leaves that share the cohort's memory.
        optimiser: steps them.
        members: (seed, client) of each packed client.
        dropout_keys: a stream key per packed client.
    """

    clients: range
    block: NodeBlock
    parameters: dict[str, Tensor]
    optimiser: Optimiser
    members: list[Member]
    dropout_keys: list[tuple[int, int]]


@dataclass(frozen=True)
class Cohort:
    """Everything that changes while a cell trains, and the data it trains on."""

    cell: Cell
    network: Network
    training: TrainingSettings
    parameters: dict[str, Tensor]
    packs: list[Pack]

    def by_client(self, stacks: Parameters) -> dict[str, Tensor]:
        """Return stacks [S * k, ...] as views [S, k, ...]."""
        seeds = len(self.cell.seeds)
        return {name: stack.view(seeds, len(stack) // seeds, *stack.shape[1:]) for name, stack in stacks.items()}

    def dropout_stream(self, pack: Pack, round: int, step: int) -> DropoutStream:
        """Return the dropout masks of one local step."""
        block, probability = pack.block, self.training.model.dropout
        return DropoutStream(
            pack.dropout_keys, block.sizes, block.slots, probability, round, step, block.present.device
        )


def start_cohort(
    cell: Cell,
    network: Network,
    problem: NodeProblem,
    graphs: Sequence[Sequence[ClientGraph]],
    training: TrainingSettings,
) -> Cohort:
    """Draw initial weights (the same for all clients of a seed), pack the data, make fresh optimisers.

    Args:
        cell: sizes, seeds, precision, device.
        network: the clients' network.
        problem: data set and partition.
        graphs: what the clients train on, a list a seed.
        training: schedule, optimiser and backbone.
    """
    parameters = initial_parameters(cell, network)
    size = parameters_per_client(network.parameters())
    packs = [
        _pack(clients, cell, problem, graphs, parameters, training)
        for clients in client_packs(cell.clients, size, len(cell.seeds), cell.device)
    ]
    return Cohort(cell, network, training, parameters, packs)


def _pack(
    clients: range,
    cell: Cell,
    problem: NodeProblem,
    graphs: Sequence[Sequence[ClientGraph]],
    parameters: dict[str, Tensor],
    training: TrainingSettings,
) -> Pack:
    chosen = [of_seed[clients.start : clients.stop] for of_seed in graphs]
    stop = clients.stop + (len(cell.seeds) - 1) * cell.clients  # with several seeds, one pack holds all clients
    views = {name: stack[clients.start : stop].detach().requires_grad_() for name, stack in parameters.items()}
    return Pack(
        clients,
        pack(chosen, problem, training.model.backbone, dtype=cell.dtype, device=cell.device),
        views,
        optimiser_of(training.optimiser, views, training.learning_rate, training.weight_decay),
        [(seed, client) for seed in cell.seeds for client in clients],
        [key for seed in cell.seeds for key in client_keys(seed, clients)],
    )


def initial_parameters(cell: Cell, network: Network) -> dict[str, Tensor]:
    """Return the stacks [S * K, ...] of initial parameters."""
    declared = network.parameters()
    drawn = [draw(declared, seed) for seed in cell.seeds]
    return {name: torch.cat([_copies(values[name], cell) for values in drawn]) for name in declared}


def _copies(value: object, cell: Cell) -> Tensor:
    tensor = torch.as_tensor(value, dtype=cell.dtype, device=cell.device)
    return tensor.expand(cell.clients, *tensor.shape)


def parameters_per_client(declared: Mapping[str, Parameter]) -> int:
    """Return the number of trainable numbers of one client."""
    return sum(math.prod(parameter.shape) for parameter in declared.values())
