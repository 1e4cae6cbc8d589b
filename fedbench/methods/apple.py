"""APPLE: every client trains a core model, and learns whose cores to use (Luo & Wu, IJCAI 2022, algorithm 1).

Client k's model is w_k = sum_j p_kj c_j: c_j the clients' core models, p_k its directed relationships (real numbers).
A local step goes along the gradients of
    F_k(w_k) + mu r(t) ||p_k - p^0||^2        p^0_j = n_j / n, where p_k starts; r falls from 1 to 0 in the first rounds
by c_k and p_k, the other cores as they were downloaded. Cores are uploaded and sent to everyone, never averaged; p_k
stays. What is evaluated is w_k: of the cores that a client trained with, or after the download of the new ones.

How that is a round of the engine: while clients train, the shared parameters are their cores (`begin_round` puts them
there, `objective` makes w_k of them); afterwards they are w_k (`signals`, and W = P after the download).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.kernels.dropout import DropoutStream
from fedbench.methods._cores import Cores
from fedbench.methods.base import Method, bytes_of
from fedbench.methods.exchange import Cell, Exchange, LocalStep, Traffic, Trained
from fedbench.models.network import Network
from fedbench.models.parameters import Parameter, Parameters, zeros
from fedbench.settings import Settings

SHIFT = "apple.shift"
_SCHEDULES: dict[str, Callable[[float], float]] = {
    "exponential": lambda passed: 0.001**passed,
    "cosine": lambda passed: (1 + math.cos(math.pi * passed)) / 2,
}


class APPLESettings(Settings):
    """Settings of APPLE; defaults are the authors' released ones."""

    mu: float = Field(0.1, ge=0, description="weight of ||p - p^0||^2")
    relationship_rate: float = Field(0.001, gt=0, description="step size of p, by plain gradient descent")
    momentum: float = Field(
        0.9, ge=0, lt=1, description="of p's descent, forgotten every round (released: its optimiser is made anew)"
    )
    schedule: Literal["exponential", "cosine"] = Field("exponential", description="r(t), the loss scheduler")
    scheduled: float = Field(0.1, ge=0, le=1, description="share of the rounds until r(t) is 0")


@dataclass(frozen=True)
class WithRelationships:
    """A network that carries p_k - p^0 beside its own parameters; its forward pass is the inner one's."""

    inner: Network
    clients: int

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the inner network's parameters, and p_k - p^0 [K], which stays on the client."""
        return {**self.inner.parameters(), SHIFT: Parameter((self.clients,), zeros, private=True)}

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters as the inner network has them at evaluation."""
        return self.inner.effective(parameters)

    def forward(self, parameters: Parameters, block: Any, dropout: DropoutStream | None) -> Tensor:
        """Return the inner network's logits."""
        return self.inner.forward(parameters, block, dropout)


class APPLE(Method[APPLESettings]):
    """APPLE on the shared parameters; what is private in the protocol's network (a classifier, say) stays so."""

    Settings = APPLESettings
    source = "Luo & Wu, Adapt to adaptation: learning personalization for cross-silo federated learning, IJCAI 2022"
    begins_round = True

    def __init__(self, settings: APPLESettings, training: TrainingSettings) -> None:
        if training.model.masks:
            raise ConfigurationError(
                "run APPLE", found="masks", allowed="networks without masks", remedy="set model.masks to null"
            )
        super().__init__(settings, training)

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the protocol's network with the client's relationships."""
        return WithRelationships(self.protocol_network(cell, client), cell.clients)

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> Cores:
        """Start with everybody's initial model as core, and p^0."""
        start = (cell.train_nodes.double() / cell.train_nodes.double().sum()).to(dtype=cell.dtype, device=cell.device)
        return Cores.of(shared, start)

    def begin_round(self, trained: Trained) -> dict[str, Tensor]:
        """Let clients take up their own cores again; nothing is sent."""
        trained.memory.take_up(trained.local, trained.clients)
        return {}

    def objective(self, training: LocalStep) -> Tensor:
        """Return F_k(w_k), [S * k]."""
        cores: Cores = training.memory
        with torch.no_grad():
            training.parameters[SHIFT].copy_(cores.shift_of(training.clients).flatten(0, 1))
        own = {name: training.parameters[name] for name in (SHIFT, *cores.sent)}
        return super().objective(
            replace(training, parameters={**training.parameters, **cores.model(own, training.clients)})
        )

    def penalty(self, local: Parameters, received: Parameters, round: int) -> Tensor | None:
        """Return mu r(t) ||p_k - p^0||^2, [S, k]; None once r is 0."""
        last = int(self.settings.scheduled * self.training.rounds)
        if round > last:
            return None
        strength = self.settings.mu * _SCHEDULES[self.settings.schedule]((round - 1) / last)
        return strength * local[SHIFT].square().sum(2)

    def corrected(
        self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: Cores
    ) -> dict[str, Tensor]:
        """Step p_k, and leave the rest to the protocol's optimiser."""
        memory.step(gradients.pop(SHIFT), active, clients, self.settings.relationship_rate, self.settings.momentum)
        return gradients

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Put the trained cores aside for the upload, and w_k in their place; nothing else is sent."""
        trained.memory.put_aside(trained.local, trained.clients)
        return {}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Upload the cores, and return W = P: what every client makes of all of them."""
        return exchange.memory.upload(uploads)

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: a core up, the K - 1 others down."""
        up = exchange.cell.clients * bytes_of(shared)
        return Traffic(up=up, down=up * (exchange.cell.clients - 1))

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return sum_j p_kj, and ||p_k - p^0||, [S, K]."""
        cores: Cores = exchange.memory
        return {"relationships": cores.relationships.sum(2), "moved": torch.linalg.vector_norm(cores.shift, dim=2)}
