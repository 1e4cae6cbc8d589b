"""The clients of a cell as the engine computes them.

Parameters that all clients have alike are stacks [S * K, ...], seed-major; what differs in shape from client to client
is the client's own, [S, ...], or padded (`fedbench.engine.padding`). A `Pack` is a run of clients computed in one step;
its parameters are views into the stacks, and its own. So the server works on all clients at once whatever the packing.
Methods see the same memory as [S, K, ...].
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.optimisers import Optimiser, optimiser_of
from fedbench.engine.packing import client_packs
from fedbench.engine.padding import padded_network, padded_start, pads
from fedbench.engine.rows import RowTable, initial_rows
from fedbench.errors import ConfigurationError
from fedbench.kernels.dropout import DropoutStream, client_keys
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell
from fedbench.models.network import Network
from fedbench.models.parameters import Parameter, Parameters, draw
from fedbench.tasks.task import Block, Member, Place, Problem, Task, task_named


@dataclass(frozen=True)
class Pack:
    """Clients computed in one step.

    Args:
        clients: which of the cell's clients.
        network: theirs.
        block: their data, for every seed computed at once.
        parameters: name to [S * clients, ...], leaves that share the cohort's memory.
        optimiser: steps them.
        members: (seed, client) of each packed client.
        dropout_keys: a stream key per packed client.
    """

    clients: range
    network: Network
    block: Any
    parameters: dict[str, Tensor]
    optimiser: Optimiser
    members: list[Member]
    dropout_keys: list[tuple[int, int]]


@dataclass(frozen=True)
class Cohort:
    """Everything that changes while a cell trains, and the data it trains on.

    ``parameters``: the stacks that all clients have alike. ``shared``: the names of those that are uploaded.
    ``size``: trainable numbers of the largest client.
    """

    cell: Cell
    task: Task
    training: TrainingSettings
    parameters: dict[str, Tensor]
    shared: tuple[str, ...]
    size: int
    packs: list[Pack]
    rows: Mapping[str, RowTable]

    def by_client(self, stacks: Parameters) -> dict[str, Tensor]:
        """Return stacks [S * k, ...] as views [S, k, ...]."""
        seeds = len(self.cell.seeds)
        return {name: stack.view(seeds, len(stack) // seeds, *stack.shape[1:]) for name, stack in stacks.items()}

    def uploads(self) -> dict[str, Tensor]:
        """Return the shared parameters of all clients, name to [S, K, ...]."""
        return self.by_client({name: self.parameters[name] for name in self.shared})

    def dropout_stream(self, pack: Pack, block: Block, round: int, taken: Sequence[int]) -> DropoutStream:
        """Return the dropout masks of one local step over ``block``; ``taken``: each client's steps before."""
        probability = self.training.model.dropout
        return DropoutStream(pack.dropout_keys, block.sizes, block.slots, probability, round, taken, block.device)


def start_cohort(cell: Cell, method: Method[Any], problem: Problem, data: Sequence[Sequence[Any]]) -> Cohort:
    """Draw initial weights (the same for all clients of a seed), pack the data, make fresh optimisers.

    Args:
        cell: sizes, seeds, precision, device.
        method: gives the clients' networks, and what is shared.
        problem: data set and partition.
        data: what the clients train on, a list a seed.
    """
    task, networks = task_named(method.training.task), networks_of(method, cell)
    declared = [network.parameters() for network in networks]
    size = max(parameters_per_client(each) for each in declared)
    if pads(cell, task):
        networks = [padded_network(method, cell)] * cell.clients
        alike = dict(networks[0].parameters())
        parameters = padded_start(cell, alike, declared)
    else:
        alike = _alike(networks, declared)
        _require_one_stack(cell, networks, alike)
        parameters = initial_parameters(cell, alike)
    start = _Start(cell, task, method.training, problem, data, parameters)
    packs = [start.pack(clients, networks[clients.start]) for clients in _packs(cell, size, networks, task)]
    shared = tuple(name for name, p in alike.items() if not p.private and method.shares(name))
    by_row = [name for name, p in declared[0].items() if p.by_row and method.shares(name)]
    rows = {name: _row_table(name, packs, len(cell.seeds)) for name in by_row}
    return Cohort(cell, start.task, method.training, parameters, shared, size, packs, rows)


def _row_table(name: str, packs: Sequence[Pack], seeds: int) -> RowTable:
    """Return a table of all clients as the server sees it."""
    names: list[np.ndarray] = []
    values: list[Tensor] = []
    for pack in packs:
        stack = pack.parameters[name].detach()
        stack = stack.view(seeds, len(pack.clients), *stack.shape[1:])
        names += pack.block.rows[name][: len(pack.clients)]
        values += stack.unbind(1)
    return RowTable(names, values)


def _alike(networks: Sequence[Network], declared: Sequence[Mapping[str, Parameter]]) -> dict[str, Parameter]:
    """Return what all clients have alike: everything if they have one network, else what isn't private."""
    if _of_one_width(networks):
        return {name: parameter for name, parameter in declared[0].items() if not parameter.by_row}
    alike = {
        name: parameter
        for name, parameter in declared[0].items()
        if not parameter.private and all(parameter.shape == other[name].shape for other in declared)
    }
    _require_one_start(alike, declared)
    return alike


def _require_one_start(alike: Mapping[str, Parameter], declared: Sequence[Mapping[str, Parameter]]) -> None:
    """Refuse a parameter that starts otherwise for other clients: all would start as the first one's."""
    first = draw(alike, 0)
    for client, other in enumerate(declared[1:], start=1):
        drawn = draw({name: other[name] for name in alike}, 0)
        bad = next((name for name in alike if not np.array_equal(drawn[name], first[name])), None)
        if bad is not None:
            raise ConfigurationError(
                f"start '{bad}' alike for all clients",
                found=f"client {client} starts it otherwise than client 0, from the same random stream",
                allowed="one start for what has one shape and isn't private",
                remedy="declare the parameter private in the network, or start it whatever the client's widths are",
            )


def _of_one_width(networks: Sequence[Network]) -> bool:
    return all(network is networks[0] for network in networks)


def _require_one_stack(cell: Cell, networks: Sequence[Network], alike: Mapping[str, Parameter]) -> None:
    """Refuse several seeds of clients that are computed one by one, but share: theirs are no slice of a stack."""
    if alike and len(cell.seeds) > 1 and not _of_one_width(networks):
        raise ConfigurationError(
            f"compute the seeds {cell.seeds} at once",
            found=f"clients of different widths with common parameters: {', '.join(alike)}",
            allowed="one seed at a time, or clients of the same widths",
            remedy="run each seed by itself",
        )


def networks_of(method: Method[Any], cell: Cell) -> list[Network]:
    """Return every client's network, one object for all clients whose data have the same widths."""
    first: dict[Any, Network] = {}
    for client, shape in enumerate(cell.shapes):
        if shape not in first:
            first[shape] = method.network(cell, client)
    return [first[shape] for shape in cell.shapes]


def _packs(cell: Cell, size: int, networks: Sequence[Network], task: Task) -> list[range]:
    """Return which clients are computed together: each alone where widths differ, or the task gains nothing by it."""
    alone = cell.device.type == "cpu" and len(cell.seeds) == 1 and not task.packs_on_cpu
    if alone or not _of_one_width(networks):
        return [range(client, client + 1) for client in range(cell.clients)]
    return client_packs(cell.clients, size, len(cell.seeds), cell.device)


@dataclass(frozen=True)
class _Start:
    """What packs are made from."""

    cell: Cell
    task: Task
    training: TrainingSettings
    problem: Problem
    data: Sequence[Sequence[Any]]
    stacks: dict[str, Tensor]

    def pack(self, clients: range, network: Network) -> Pack:
        cell, training = self.cell, self.training
        chosen = [of_seed[clients.start : clients.stop] for of_seed in self.data]
        block = self.task.pack(chosen, self.problem, training.model, Place(cell.dtype, cell.device))
        parameters = self._views(clients) | self._own(network, clients, block)
        return Pack(
            clients,
            network,
            block,
            {name: parameters[name] for name in network.parameters()},
            optimiser_of(training.optimiser, parameters, training.learning_rate, training.weight_decay),
            [(seed, client) for seed in cell.seeds for client in clients],
            [key for seed in cell.seeds for key in client_keys(seed, clients)],
        )

    def _views(self, clients: range) -> dict[str, Tensor]:
        """Return leaves that share the stacks' memory; with several seeds, one pack holds all clients."""
        stop = clients.stop + (len(self.cell.seeds) - 1) * self.cell.clients
        return {name: s[clients.start : stop].detach().requires_grad_() for name, s in self.stacks.items()}

    def _own(self, network: Network, clients: range, block: Any) -> dict[str, Tensor]:
        """Return what these clients have in a shape of their own."""
        own = {name: p for name, p in network.parameters().items() if name not in self.stacks}
        alone = replace(self.cell, nodes=self.cell.nodes[: len(clients)])
        found = initial_parameters(alone, {name: p for name, p in own.items() if not p.by_row})
        found |= {name: self._rows(name, p, clients, block) for name, p in own.items() if p.by_row}
        return {name: stack.requires_grad_() for name, stack in found.items()}

    def _rows(self, name: str, parameter: Parameter, clients: range, block: Any) -> Tensor:
        """Return a table's start [S * k, n, d], alike for a row that several clients have."""
        members = [seed for seed in self.cell.seeds for _ in clients]
        drawn = [initial_rows(parameter, name, *each) for each in zip(members, block.rows[name], strict=True)]
        return torch.as_tensor(np.stack(drawn), dtype=self.cell.dtype, device=self.cell.device)


def initial_parameters(cell: Cell, declared: Mapping[str, Parameter]) -> dict[str, Tensor]:
    """Return the stacks [S * K, ...] of initial parameters, the same for all clients of a seed."""
    drawn = [draw(declared, seed) for seed in cell.seeds]
    return {name: torch.cat([_copies(values[name], cell) for values in drawn]) for name in declared}


def _copies(value: object, cell: Cell) -> Tensor:
    tensor = torch.as_tensor(value, dtype=cell.dtype, device=cell.device)
    return tensor.expand(cell.clients, *tensor.shape)


def parameters_per_client(declared: Mapping[str, Parameter]) -> int:
    """Return the number of trainable numbers of one client."""
    return sum(math.prod(parameter.shape) for parameter in declared.values())
