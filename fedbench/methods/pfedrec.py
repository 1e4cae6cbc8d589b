"""PFedRec: a score function for every user, and items fine-tuned where they are used (Zhang et al., IJCAI 2023).

y_ui = sigmoid(s_u(e_i)), s_u affine; binary cross-entropy. In each batch (algorithm 1): first s_u steps, then, with the
new s_u, the items' vectors. Score functions stay; the server averages item tables, and clients go on from the average.
What is evaluated is the fine-tuned table. A client has many users, each with its own s_u: one for all of them would
rank alike for everyone.
"""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.kernels.gradients import with_gradient_times
from fedbench.methods._item_tables import ItemTables, OwnRatesSettings
from fedbench.methods._pair_losses import cross_entropy, pair_weights, sums, times_of_users, with_penalty
from fedbench.methods.exchange import Cell, LocalStep
from fedbench.models.affine_scores import BIAS, AffineScores
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.models.vectors import ITEMS, USERS

_OF_USERS = (USERS, BIAS)


class PFedRecSettings(OwnRatesSettings):
    """Settings of PFedRec; the protocol's learning rate is that of score functions."""

    order: Literal["alternate", "together"] = Field(
        "alternate", description="in each batch: first s_u, then with the new s_u the items (paper), or both at once"
    )
    item_rate: float = Field(
        80.0, gt=0, description="items step this times the number of the client's items as far (released: lr_eta)"
    )


class PFedRec(ItemTables[PFedRecSettings]):
    """PFedRec for clients with many users; plain gradient descent, as rates of its own need."""

    Settings = PFedRecSettings
    source = "Zhang et al., Dual personalization on federated recommendation, IJCAI 2023, arXiv 2301.08143"

    def __init__(self, settings: PFedRecSettings, training: TrainingSettings) -> None:
        super().__init__(settings, training)
        self._require_plain_descent()

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the client's score functions and item vectors."""
        shape = cell.shapes[client]
        network: Network = AffineScores(shape.features, shape.classes, self.training.model)  # type: ignore[assignment]
        return network

    def objective(self, training: LocalStep) -> Tensor:
        """Return the loss that items step along, [S * k]; in order ``alternate`` the score functions step before it."""
        batch, own = training.block, {name: training.parameters[name] for name in _OF_USERS}
        times = times_of_users(batch, self.settings.mean_over)
        if self.settings.order == "together":
            return self._loss(training, {name: with_gradient_times(table, times) for name, table in own.items()})
        self._step(self._loss(training, own), list(own.values()), times)
        return self._loss(training, {name: table.detach() for name, table in own.items()})

    def _loss(self, training: LocalStep, of_users: Parameters) -> Tensor:
        """Return the mean cross-entropy of each client's batch, [S * k]."""
        batch = training.block
        outputs = training.network.forward({**training.parameters, **of_users}, batch, training.dropout)
        weights = pair_weights(batch, self.settings.mean_over)
        return sums(batch, weights * with_penalty(batch, outputs, cross_entropy))  # type: ignore[arg-type]

    def _step(self, loss: Tensor, tables: list[Tensor], times: Tensor) -> None:
        """Step the score functions [S * k, users, ...] in place, each client's by its rate times ``times`` [S * k]."""
        gradients = torch.autograd.grad(loss.sum(), tables)
        with torch.no_grad():
            for table, gradient in zip(tables, gradients, strict=True):
                table.sub_(self.training.learning_rate * times.view(-1, 1, 1) * gradient)

    def corrected(
        self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: object
    ) -> dict[str, Tensor]:
        """Make the items' steps longer, in place."""
        gradients[ITEMS].mul_(self.settings.item_rate * gradients[ITEMS].shape[2])
        return gradients
