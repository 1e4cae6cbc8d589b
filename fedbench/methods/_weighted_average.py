"""Averages of uploaded models in which clients count alike or by their data."""

from __future__ import annotations

from typing import TypeVar

from pydantic import Field
from torch import Tensor

from fedbench.methods.base import Method
from fedbench.methods.exchange import Exchange
from fedbench.methods.weights import Weighing, rows_by
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings


class WeightedSettings(Settings):
    """Settings of a method that averages."""

    weights: Weighing = Field(
        "uniform",
        description="client weights in the average. The algorithm weighs by data points; FED-PUB's and FedAux's "
        "released code averages uniformly (its 'train_size' is the length of a list of one), and so do their tables",
    )


W = TypeVar("W", bound=WeightedSettings)


class WeightedAverage(Method[W]):
    """w <- sum_k p_k w_k with p_k proportional to the chosen client weights."""

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W whose rows are all p."""
        return rows_by(self.settings.weights, exchange.cell)
