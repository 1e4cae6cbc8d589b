"""Agnostic federated learning: weights of clients that follow their losses (Mohri et al., ICML 2019, algorithm 1).

min over w, max over lambda in the simplex, of sum_k lambda_k F_k(w). A round, with F_k the whole training loss at the
received w:
    w      <- sum_k lambda_k w_k            for one step of gradient descent: w - eta sum_k lambda_k grad F_k(w)
    lambda <- projection of lambda + gamma F(w) on the simplex
Both go from the same (w, lambda), as in the algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from fedbench.methods._simplex import projected
from fedbench.methods._training_loss import TrainingData
from fedbench.methods.base import Method
from fedbench.methods.exchange import REMADE, Cell, Exchange, Trained
from fedbench.methods.weights import sizes_by
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings


class AFLSettings(Settings):
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
    evaluated: Literal["last", "mean"] = Field(
        "last",
        description="the model that counts: the last round's, which clients also train from, or the mean over rounds, "
        "which algorithm 1 returns and the released comparison evaluates. Last by default, as every other method here",
    )


@dataclass
class Agnostic:
    """``weights``: lambda, float64 [S, K]. ``data``: the clients' training data. ``shared``: names of what is shared.
    ``mean``: of the models of all rounds so far, name to [S, 1, ...]; nothing before the first.
    """

    weights: Tensor
    data: TrainingData = field(metadata=REMADE)
    shared: tuple[str, ...] = field(metadata=REMADE)
    mean: dict[str, Tensor] = field(default_factory=dict)


class AFL(Method[AFLSettings]):
    """AFL with whole local epochs in place of one step."""

    Settings = AFLSettings
    source = "Mohri, Sivek, Suresh, Agnostic federated learning, ICML 2019"
    begins_round = True

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> Agnostic:
        """Start lambda."""
        sizes = sizes_by(self.settings.start, cell).double()
        weights = (sizes / sizes.sum()).to(cell.device)
        return Agnostic(weights.repeat(len(cell.seeds), 1), TrainingData(self.training), tuple(shared))

    def evaluated(self, trained: Trained) -> Parameters:
        """Return the clients' parameters, the shared ones as the mean over the rounds behind them if asked for."""
        if self.settings.evaluated == "last":
            return trained.effective
        mean = trained.memory.mean
        return {n: mean[n].expand_as(stack) if n in mean else stack for n, stack in trained.effective.items()}

    def begin_round(self, trained: Trained) -> dict[str, Tensor]:
        """Upload F_k at the received model, [S, k]."""
        return {"training_loss": trained.memory.data.loss(trained)}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W whose rows are all lambda, and move lambda along the losses."""
        state, cell = exchange.memory, exchange.cell
        rows = state.weights.to(cell.dtype).unsqueeze(1).expand(-1, cell.clients, -1)
        if self.settings.evaluated == "mean":
            _average(state, rows, uploads, exchange.round)
        state.weights = projected(state.weights + self.settings.gamma * uploads["training_loss"].double())
        return rows

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return F_k, and the new lambda, [S, K]: it may end on one client whose loss is high by design."""
        return {"training_loss": uploads["training_loss"], "lambda": exchange.memory.weights}


def _average(state: Agnostic, rows: Tensor, uploads: Parameters, round: int) -> None:
    """Take the round's new model, sum_k lambda_k w_k, into the mean."""
    for name in state.shared:
        sent = uploads[name]
        model = torch.bmm(rows[:, :1], sent.flatten(2)).view_as(sent[:, :1])
        state.mean[name] = torch.lerp(state.mean.get(name, model), model, 1 / round)
