"""Agnostic federated learning: weights of clients that follow their losses (Mohri et al., ICML 2019, algorithm 1).

min over w, max over lambda in the simplex, of sum_k lambda_k F_k(w). A round, with F_k the whole training loss at the
received w:
    w      <- sum_k lambda_k w_k            for one step of gradient descent: w - eta sum_k lambda_k grad F_k(w)
    lambda <- projection of lambda + gamma F(w) on the simplex
Both go from the same (w, lambda), as in the algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from fedbench.methods._simplex import projected
from fedbench.methods._training_loss import TrainingData
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Trained
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings


class AflSettings(Settings):
    """Settings of AFL."""

    gamma: float = Field(
        0.01,
        ge=0,
        description="step size of lambda; the default of q-FFL's released comparison (0.1 for its Adult data set). No "
        "paper on federated graphs states it",
    )
    start: Literal["uniform", "train_nodes"] = Field(
        "uniform",
        description="lambda before round 1: 1 / K (released comparison), or by training nodes (graphs), as FedAvg",
    )


@dataclass
class Agnostic:
    """``weights``: lambda, float64 [S, K]. ``data``: the clients' training data."""

    weights: Tensor
    data: TrainingData


class Afl(Method[AflSettings]):
    """AFL with whole local epochs in place of one step; the last model is used, not the mean over rounds."""

    Settings = AflSettings
    source = "Mohri, Sivek, Suresh, Agnostic federated learning, ICML 2019"
    greets = True

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> Agnostic:
        """Start lambda."""
        sizes = cell.train_nodes if self.settings.start == "train_nodes" else torch.ones(cell.clients)
        weights = (sizes.double() / sizes.double().sum()).to(cell.device)
        return Agnostic(weights.repeat(len(cell.seeds), 1), TrainingData(self.training))

    def greetings(self, trained: Trained) -> dict[str, Tensor]:
        """Upload F_k at the received model, [S, k]."""
        return {"training_loss": trained.memory.data.loss(trained)}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W whose rows are all lambda, and move lambda along the losses."""
        state, cell = exchange.memory, exchange.cell
        rows = state.weights.to(cell.dtype).unsqueeze(1).expand(-1, cell.clients, -1)
        state.weights = projected(state.weights + self.settings.gamma * uploads["training_loss"].double())
        return rows

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return F_k, and the new lambda, [S, K]: it may end on one client whose loss is high by design."""
        return {"training_loss": uploads["training_loss"], "lambda": exchange.memory.weights}
