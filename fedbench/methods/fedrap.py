"""FedRAP: an item's vector is a common one plus the client's own (Li, Long, Zhou, ICLR 2024).

y_ui = sigmoid(a_u . (C_i + D_i)); C is averaged by the server, a_u and D stay. A client's loss:
    cross-entropy - lambda_t ||D - C||^2 + mu_t ||C||_1,   lambda_t = lambda tanh(t / 10), mu_t = mu tanh(t / 10).
The difference keeps C and D apart, the norm makes C sparse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.kernels.gradients import with_gradient_times
from fedbench.methods._item_tables import ItemTables, OwnRatesSettings
from fedbench.methods._pair_losses import cross_entropy, pair_weights, sums, times_of_users, with_penalty
from fedbench.methods.exchange import Cell, Exchange, LocalStep
from fedbench.methods.weights import uniform_rows
from fedbench.models.additive_items import LOCAL, AdditiveItems
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.models.vectors import ITEMS, USERS, flat
from fedbench.tasks.rec.arrays import ClientPairs
from fedbench.tasks.rec.block import Batch

_SCHEDULES: dict[str, Callable[[float], float]] = {"tanh": math.tanh, "constant": lambda passed: 1.0}


class FedRAPSettings(OwnRatesSettings):
    """Settings of FedRAP; the protocol's learning rate is that of users' vectors."""

    apart: float = Field(0.1, ge=0, description="lambda, weight of ||D - C||^2 (released)")
    sparse: float = Field(0.1, ge=0, description="mu, weight of ||C||_1 (released; its example: 0.001)")
    schedule: Literal["tanh", "constant"] = Field(
        "tanh", description="of both weights; constant: the released loss, which never reads the schedule"
    )
    schedule_rounds: float = Field(10.0, gt=0, description="tanh(t / this), t the round from 1 (paper: 10)")
    norms: Literal["table", "batch"] = Field(
        "table", description="means over the entries of C and D, or (released) over those of the batch's items"
    )
    item_rate: float = Field(400.0, gt=0, description="C and D step this times as far (released: 200 over 0.5)")
    decay: float = Field(0.97, gt=0, le=1, description="of all rates, a round (released)")
    epoch_decay: float = Field(
        0.95,
        gt=0,
        le=1,
        description="of all rates, a local epoch of the round (released: ExponentialLR steps after every batch, of "
        "which a user's pairs are one, anew in every round; the paper's text has none)",
    )


@dataclass
class Progress:
    """The round, from 1, and the local epoch, from 0, of the step being taken."""

    round: int = 1
    epoch: int = 0


class FedRAP(ItemTables[FedRAPSettings]):
    """FedRAP for clients with many users: one D a client; plain gradient descent, as rates of its own need."""

    Settings = FedRAPSettings
    source = "Li, Long, Zhou, Federated recommendation with additive personalization, ICLR 2024, arXiv 2301.09109"

    def __init__(self, settings: FedRAPSettings, training: TrainingSettings) -> None:
        super().__init__(settings, training)
        self._require_plain_descent()

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return users' vectors, C and D."""
        shape = cell.shapes[client]
        network: Network = AdditiveItems(shape.features, shape.classes, self.training.model)  # type: ignore[assignment]
        return network

    def shares(self, parameter: str) -> bool:
        """Share C alone."""
        return parameter == ITEMS

    def memory(self, cell: Cell, data: Sequence[Sequence[ClientPairs]], shared: Parameters) -> Progress:
        """Start to count."""
        return Progress()

    def strength(self, round: int) -> float:
        """Return lambda_t / lambda, which is mu_t / mu."""
        return _SCHEDULES[self.settings.schedule](round / self.settings.schedule_rounds)

    def objective(self, training: LocalStep) -> Tensor:
        """Return the mean cross-entropy of each client's batch, plus the norms if they are the batch's, [S * k]."""
        batch = training.block
        training.memory.epoch = training.epoch
        users = with_gradient_times(training.parameters[USERS], times_of_users(batch, self.settings.mean_over))
        outputs = training.network.forward({**training.parameters, USERS: users}, batch, training.dropout)
        losses = with_penalty(batch, outputs, cross_entropy)  # type: ignore[arg-type]
        if self.settings.norms == "batch":
            losses = losses + self.strength(training.round) * self._norms_of_pairs(training.parameters, batch)
        return sums(batch, pair_weights(batch, self.settings.mean_over) * losses)

    def _norms_of_pairs(self, parameters: Parameters, batch: Batch) -> Tensor:
        """Return -lambda and mu times the means over the entries of each pair's items, [m]."""
        rows = batch.item_rows[batch.item]
        common, own = (flat(parameters[name])[rows] for name in (ITEMS, LOCAL))
        apart, sparse = (own - common).square().mean((1, 2)), common.abs().mean((1, 2))
        return self.settings.sparse * sparse - self.settings.apart * apart

    def penalty(self, local: Parameters, received: Parameters, round: int) -> Tensor | None:
        """Return -lambda_t mean (D - C)^2 + mu_t mean |C|, [S, k]."""
        if self.settings.norms == "batch":
            return None
        common, own = local[ITEMS], local[LOCAL]
        apart, sparse = (own - common).square().mean((2, 3)), common.abs().mean((2, 3))
        return self.strength(round) * (self.settings.sparse * sparse - self.settings.apart * apart)

    def corrected(
        self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: Progress
    ) -> dict[str, Tensor]:
        """Give every gradient its rate, in place."""
        rate = self.settings.decay ** (memory.round - 1) * self.settings.epoch_decay**memory.epoch
        for name, gradient in gradients.items():
            gradient.mul_(rate if name == USERS else rate * self.settings.item_rate)
        return gradients

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return the plain average, and begin the next round."""
        exchange.memory.round = exchange.round + 1
        return uniform_rows(exchange.cell)
