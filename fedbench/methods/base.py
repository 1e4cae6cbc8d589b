"""What tells two federated methods apart: four answers, each FedAvg's unless a method says otherwise.

1. What does a client train?      `Method.prepare` and `seen` (data), `network`, `objective` and `penalty` (loss),
                                  `corrected` (gradients), `constrain` (parameters), `local_epochs`, `evaluated`
2. What leaves the client?        `Method.shares` (parameters), `begin_round` and `signals` (anything else)
3. How does the server combine?   `Method.mixing`: new shared parameters = W . uploaded ones (+ what is `kept`)
4. What is remembered?            `Method.memory`: whatever server and clients keep from round to round

A round asks in this order: `begin_round`, `local_epochs`, `seen`; for every local step `objective`, `penalty`,
`corrected`, `constrain`; `signals`; of the server `mixing`, `kept`, `diagnostics`, `traffic`. `evaluated` comes where
the protocol evaluates: before `mixing`, or last.

Stacks that methods see have leading axes [seeds S, clients K]: the clients of a cell, and the seeds that the engine
computes at once, are one problem. A method holds settings only; what changes during a run is its memory, which the
engine keeps and passes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.methods.exchange import Cell, Exchange, LocalStep, Preparation, Traffic, Trained
from fedbench.methods.weights import uniform_rows
from fedbench.models.masks import is_mask
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings
from fedbench.tasks.task import Problem, task_named

S = TypeVar("S", bound=Settings)


class NoSettings(Settings):
    """A method without settings of its own."""


class Method(Generic[S]):
    """Base of every federated method; its defaults are FedAvg's (McMahan et al. 2017), all clients taking part.

    Class attributes: ``Settings``, the model of the method's own settings; ``source``, what to cite; ``pooled``,
    whether one model is trained on all clients' data; ``anchored``, whether `penalty` or the server needs the shared
    parameters as clients received them; ``begins_round``, whether `begin_round` is asked.

    Args:
        settings: the method's own settings.
        training: the cell's schedule, optimiser and backbone.
    """

    Settings: ClassVar[type[Settings]] = NoSettings
    source: ClassVar[str] = ""
    pooled: ClassVar[bool] = False
    anchored: ClassVar[bool] = False
    begins_round: ClassVar[bool] = False

    def __init__(self, settings: S, training: TrainingSettings) -> None:
        self.settings = settings
        self.training = training

    # 1. What does a client train?

    def prepare(self, problem: Any, cell: Cell) -> Preparation:
        """Return the data that clients train on, and what making them sent; before round 1."""
        return Preparation([self.original_data(problem)] * len(cell.seeds))

    def original_data(self, problem: Problem) -> Sequence[Any]:
        """Return the clients' data as the partition has them; for a pooled method all as one client's."""
        return [problem.pooled_data()] if self.pooled else problem.client_data

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return a client's network; clients whose data have the same widths share one object."""
        return self.protocol_network(cell, client)

    def protocol_network(self, cell: Cell, client: int, **choices: Any) -> Network:
        """Return the protocol's network; ``choices`` are the method's own parts, such as ``head`` and ``masks``."""
        return task_named(self.training.task).network(cell.shapes[client], self.training.model, **choices)

    def seen(self, block: Any, clients: range, memory: Any) -> Any:
        """Return the clients' data as they see it in this round: what other clients sent included."""
        return block

    def objective(self, training: LocalStep) -> Tensor:
        """Return each client's loss on a step's data, [S * k], before `penalty`."""
        return training.block.loss(training.network.forward(training.parameters, training.block, training.dropout))

    def penalty(self, local: Parameters, received: Parameters, round: int) -> Tensor | None:
        """Return what is added to each client's loss, [S, k], or None.

        Args:
            local: the parameters being trained, name to [S, k, ...].
            received: the shared ones as they were at the start of the round; empty unless ``anchored``.
            round: communication round, from 1.
        """
        return None

    def corrected(self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: Any) -> dict[str, Tensor]:
        """Return the gradients that the optimiser steps along, name to [S, k, ...].

        Args:
            gradients: of loss and penalty.
            active: bool [S, k], who takes this step.
            clients: whose they are, k consecutive ones.
            memory: may be changed in place (a control variate's running mean, say).
        """
        return gradients

    def constrain(self, local: Parameters) -> None:
        """Put parameters back, in place, where the method keeps them (a unit sphere, say); after every local step."""

    def local_epochs(self, round: int, cell: Cell, memory: Any) -> Tensor:
        """Return how many local epochs each client takes in a round, int64 [S, K]."""
        return torch.full((len(cell.seeds), cell.clients), self.training.local_epochs)

    def evaluated(self, trained: Trained) -> Parameters:
        """Return the parameters that a client is evaluated with, name to [S, k, ...].

        Args:
            trained: the clients when the protocol evaluates: after their local steps, or after the download.
        """
        return trained.effective

    # 2. What leaves the client?

    def shares(self, parameter: str) -> bool:
        """Tell whether a parameter is uploaded, combined and downloaded; masks never are.

        Not asked of parameters that the network keeps private, or that differ in shape between clients.
        """
        return not is_mask(parameter)

    def begin_round(self, trained: Trained) -> dict[str, Tensor]:
        """Return what clients measure on the model they received, uploaded with their signals, name to [S, k, ...].

        Asked of methods whose `begins_round` is set, before local steps. May change ``trained.local`` in place: where
        clients train another model than was downloaded, it is put together here.

        Args:
            trained: the clients before their local steps of the round.
        """
        return {}

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Return what clients upload beside parameters, name to [S, k, ...].

        Asked after the local steps. May change ``trained.local`` in place: what a client uploads in place of what it
        trained, or keeps of it, is put there.
        """
        return {}

    # 3. How does the server combine?

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W [S, K, K]: client k's new shared parameters are sum_l W[k, l] times client l's.

        Args:
            uploads: shared parameters and signals, name to [S, K, ...]; what W is applied to may be replaced in place.
            exchange: the cell, the round, the memory (which may be changed), and what clients had received.
        """
        return uniform_rows(exchange.cell)

    def kept(self, uploads: Parameters, exchange: Exchange) -> Tensor | None:
        """Return how much of what they had received clients keep, [S, K]; it is added to W . uploaded. None: nothing.

        Needs ``anchored``. With W it makes any affine server step, such as w - sum_k a_k (w - w_k).
        """
        return None

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of all clients in a round: shared parameters both ways, signals up."""
        down = exchange.cell.clients * bytes_of(shared)
        return Traffic(up=down + exchange.cell.clients * bytes_of(signals), down=down)

    # 4. What is remembered?

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> Any:
        """Return what server and clients keep from round to round, as it is before round 1.

        Args:
            cell: sizes, seeds, device.
            data: the clients' data, a list a seed.
            shared: shared parameters as they start, name to [S, K, ...].
        """
        return None

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return figures that explain the method's behaviour in a round, name to [S, K]; they go into the record."""
        return {}


def bytes_of(stacks: Parameters) -> int:
    """Return the bytes one client sends for the stacks [S, K, ...], 4 a number whatever the computing precision."""
    return sum(4 * stack[0, 0].numel() for stack in stacks.values())
