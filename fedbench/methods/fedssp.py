"""FedSSP: spectral knowledge is shared, preferences stay (Tan et al., NeurIPS 2024).

Backbone: messages weighed by spectral filters that a network makes of each graph's spectrum (`fedbench.models.fedssp`).
GSKS, generic spectral knowledge sharing: the eigenvalues' encoder and the filters' encoder are averaged, uniformly.
PGPA, personalised graph preference adjustment: client k classifies z + p_k, z a graph's feature, and minimises
    CE(head(z + p_k), y) + tau / 2 mean((m_k - m)^2)
m_k the momentum mean of its batches' mean z, m the uniform mean of all m_k as the last round left them. p_k has a
step size of its own. In round 1 there is no m: no p_k, no penalty, and only the m_k are averaged.
docs/methods/fedssp.md lists what the released code does instead; each is a setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.methods._fedssp_state import FedSSPState, of_clients
from fedbench.methods.base import Method, bytes_of
from fedbench.methods.exchange import Cell, Exchange, LocalStep, Preparation, Traffic, Trained
from fedbench.methods.weights import uniform_rows
from fedbench.models.fedssp import PREFERENCE, FedSSPNetwork
from fedbench.models.normalisation import is_running, keep_running
from fedbench.models.parameters import Parameters
from fedbench.models.spectral import SHARED
from fedbench.settings import Settings
from fedbench.tasks.graph.block import GraphBlock
from fedbench.tasks.graph.edges import with_edges_only
from fedbench.tasks.graph.spectra import SpectralBlock

_MEAN = "feature_mean"


class FedSSPSettings(Settings):
    """Settings of FedSSP; constants are the released code's."""

    gsks: bool = Field(True, description="share the eigenvalues' and the filters' encoder")
    pgpa: bool = Field(True, description="preferences, and the penalty towards the consensus of features")
    layers: int = Field(3, ge=1, description="message layers; the protocol's are GIN's")
    width: int = Field(128, ge=2, multiple_of=2, description="of everything hidden; the protocol's is GIN's")
    heads: int = Field(4, ge=1, description="of the attention over eigenvalues, and new spectra a graph")
    dropout: float = Field(0.1, ge=0, lt=1, description="everywhere in the network; the protocol's is GIN's")
    tau: float = Field(100.0, ge=0, description="weight of the penalty")
    momentum: float = Field(0.5, gt=0, le=1, description="share of a new batch in m_k")
    mean_over: Literal["run", "round", "batch"] = Field(
        "run",
        description="m_k starts from 0 once (inferred: no formula says otherwise), in every round (the code of DBE, "
        "whose construction this is), or in every batch (released code: momentum times the last batch's mean)",
    )
    preference: Literal["trained", "accumulated", "zero"] = Field(
        "trained",
        description="p_k descends along its gradient; or along the sum of all so far (released code on a CPU: the "
        "gradient is never set to zero); or stays 0 (released code on a GPU: a copy is trained)",
    )
    preference_rate: float = Field(0.005, gt=0, description="step size of p_k, by plain gradient descent")
    evaluated: Literal["with_preference", "without_preference"] = Field(
        "with_preference", description="what is classified at evaluation, z + p_k, or z (released code)"
    )
    weights_from: int = Field(2, ge=1, description="round from which encoders are averaged (released code: 2)")
    adamw: Literal["protocol", "first_step"] = Field(
        "protocol",
        description="the protocol's optimiser, or AdamW's first step every time (released code: a new AdamW a batch, "
        "so without moments), g / (|g| + epsilon) with decoupled weight decay; needs the protocol's optimiser sgd",
    )
    adamw_epsilon: float = Field(1e-8, gt=0, description="epsilon of AdamW's first step (torch's default)")
    start: Literal["common", "own"] = Field("common", description="initial weights; released code: every client's own")
    edgeless: Literal["kept", "dropped"] = Field(
        "kept", description="graphs without edges; released code: dropped from training, validation and test"
    )

    @model_validator(mode="after")
    def _divides(self) -> FedSSPSettings:
        if self.width % self.heads:
            raise ValueError("width must be a multiple of heads")
        return self


class FedSSP(Method[FedSSPSettings]):
    """FedSSP, ``paper`` or ``released``; GSKS and PGPA can each be switched off."""

    Settings = FedSSPSettings
    source = (
        "Tan et al., FedSSP: federated graph learning with spectral knowledge and personalized preference, NeurIPS 2024"
    )
    begins_round = True

    def __init__(self, settings: FedSSPSettings, training: TrainingSettings) -> None:
        if settings.adamw == "first_step" and training.optimiser != "sgd":
            raise ConfigurationError(
                "take AdamW's first step in every batch of FedSSP",
                found=f"optimiser '{training.optimiser}'",
                allowed="optimiser 'sgd', which adds the weight decay and the step size",
                remedy="set training.optimiser to sgd in the variant",
            )
        super().__init__(settings, training)

    def prepare(self, problem: Any, cell: Cell) -> Preparation:
        """Return the clients' graphs, without edgeless ones if so set; nothing is sent."""
        data = list(problem.client_data)
        if self.settings.edgeless == "dropped":
            data = [with_edges_only(client) for client in data]
        return Preparation([data] * len(cell.seeds))

    def network(self, cell: Cell, client: int = 0) -> FedSSPNetwork:
        """Return the network for a client's widths."""
        own, shape = self.settings, cell.shapes[client]
        return FedSSPNetwork(
            shape.features, shape.classes, own.layers, own.width, own.heads, own.dropout,
            preference=own.pgpa and own.evaluated == "with_preference",
        )  # fmt: skip

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> FedSSPState:
        """Start preferences and means at zero."""
        declared = [self.network(cell, client).parameters() for client in range(cell.clients)]
        return FedSSPState.of(cell, self.settings.width, declared)

    def seen(self, block: GraphBlock, clients: range, memory: FedSSPState) -> SpectralBlock:
        """Return the clients' graphs with their spectra."""
        return memory.blocks.of(block, clients)

    def begin_round(self, trained: Trained) -> dict[str, Tensor]:
        """Draw every client's own initial weights if so set, before its first round; nothing is sent."""
        if self.settings.start == "own":
            trained.memory.draw_own(trained.local, trained.clients)
        return {}

    def objective(self, training: LocalStep) -> Tensor:
        """Return CE(head(z + p_k), y) + tau / 2 mean((m_k - m)^2) of a batch, [S * k]; CE(head(z), y) before m is."""
        network, state, block = training.network, training.memory, training.block
        assert isinstance(network, FedSSPNetwork)
        pooled, running = network.pooled(training.parameters, block, training.dropout)
        keep_running(training.parameters, running)
        with torch.no_grad():
            own = training.parameters[PREFERENCE]
            own.copy_(of_clients(state.preference, training.clients).reshape(own.shape))
        consensus = state.consensus if self.settings.pgpa else None
        logits = network.classified(training.parameters, pooled, preferred=consensus is not None)
        mean = self._mean(training, pooled)
        loss: Tensor = block.loss(logits)
        if consensus is None:
            return loss
        apart = mean.unflatten(0, (-1, len(training.clients))) - consensus
        return loss + self.settings.tau / 2 * apart.square().mean(2).flatten()

    def _mean(self, training: LocalStep, pooled: Tensor) -> Tensor:
        """Return m_k with this batch, [S * k, width]; a gradient goes through the batch only."""
        graphs = torch.tensor(training.block.graph_sizes, device=pooled.device).unsqueeze(1)
        batch, momentum = pooled.sum(1) / graphs.clamp(min=1), self.settings.momentum
        anew = {"run": False, "round": not any(training.dropout.steps), "batch": True}[self.settings.mean_over]
        state: FedSSPState = training.memory
        before = state.moved_mean(batch.detach(), graphs > 0, training.clients, momentum, anew=anew)
        return before + momentum * batch

    def corrected(
        self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: FedSSPState
    ) -> dict[str, Tensor]:
        """Step p_k, and return the other gradients, or AdamW's first step along them."""
        gradient = gradients.pop(PREFERENCE, None)
        if gradient is not None and self.settings.preference != "zero":
            gathering = self.settings.preference == "accumulated"
            memory.step(gradient, active, clients, self.settings.preference_rate, gathering=gathering)
        if self.settings.adamw == "first_step":
            return {name: g / (g.abs() + self.settings.adamw_epsilon) for name, g in gradients.items()}
        return gradients

    def shares(self, parameter: str) -> bool:
        """Share the two encoders, batch norms' scales and shifts included, their statistics not."""
        if not (self.settings.gsks or self.settings.pgpa):
            return False
        return parameter.startswith(SHARED) and not is_running(parameter)

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload m_k, [S, k, width]; nothing without PGPA."""
        state, clients = trained.memory, trained.clients
        trained.local[PREFERENCE].copy_(of_clients(state.preference, clients))  # as the last local step left it
        return {_MEAN: of_clients(state.mean, clients).clone()} if self.settings.pgpa else {}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return uniform rows, or the identity while encoders aren't averaged; m is the mean of all m_k."""
        if self.settings.pgpa:
            exchange.memory.consensus = uploads[_MEAN].mean(1, keepdim=True)
        if self._averaged(exchange.round):
            return uniform_rows(exchange.cell)
        cell = exchange.cell
        identity = torch.eye(cell.clients, dtype=cell.dtype, device=cell.device)
        return identity.expand(len(cell.seeds), -1, -1)

    def _averaged(self, round: int) -> bool:
        return self.settings.gsks and round >= self.settings.weights_from

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: encoders if they are averaged, and m_k up, m down."""
        sent = bytes_of(signals) + (bytes_of(shared) if self._averaged(exchange.round) else 0)
        return Traffic(up=exchange.cell.clients * sent, down=exchange.cell.clients * sent)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return ||p_k|| and mean((m_k - m)^2) / 2 after the round, [S, K]; they tell whether PGPA acts."""
        if not self.settings.pgpa:
            return {}
        state: FedSSPState = exchange.memory
        assert state.consensus is not None  # `mixing` has set it
        apart = (uploads[_MEAN] - state.consensus).square().mean(2) / 2
        return {"preference_norm": torch.linalg.vector_norm(state.preference, dim=2), "off_consensus": apart}
