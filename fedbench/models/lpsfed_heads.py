"""LPSFed's two small networks, the part of a client that leaves it: pooling over layers, and prediction of a pair.

Weights ``pool<k>`` and ``predict<k>`` are stored [in, out]; all start from N(0, 0.01^2), biases too (released code).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor

from fedbench.kernels.pairs import pair_products
from fedbench.models.lpsfed_layers import own_rows, times_own
from fedbench.models.parameters import Parameter, Parameters
from fedbench.models.ranking import InnerProduct, PairBatch, Scorer
from fedbench.models.vectors import normal_of

POOL, PREDICT = "pool", "predict"


def declared(name: str, widths: list[int]) -> dict[str, Parameter]:
    """Return weights and biases of a network of the given widths, input and output included."""
    start = normal_of(0.01)
    found: dict[str, Parameter] = {}
    for layer, shape in enumerate(pairwise(widths), 1):
        found |= {f"{name}{layer}.weight": Parameter(shape, start), f"{name}{layer}.bias": Parameter(shape[1:], start)}
    return found


def pool_widths(layers: int, stacked: int, width: int) -> list[int]:
    """Return stacked -> layers d -> ... -> 2 d -> d, with one layer stacked -> d (LGCN's code)."""
    return [stacked, *(width * times for times in range(layers, 0, -1))]


def deeper(parameters: Parameters, name: str, first: Tensor, sizes: list[int]) -> Tensor:
    """Return the output of a network from its first linear map [r, out] on: tanh between layers, none at the end.

    Args:
        parameters: of all packed clients.
        name: of the network.
        first: rows of all clients, times the first weight.
        sizes: rows of each client.
    """
    x, layer = first + own_rows(parameters[f"{name}1.bias"], sizes), 2
    while f"{name}{layer}.weight" in parameters:
        x = times_own(torch.tanh(x), parameters[f"{name}{layer}.weight"], sizes)
        x = x + own_rows(parameters[f"{name}{layer}.bias"], sizes)
        layer += 1
    return x


class Prediction(Protocol):
    """f(u, i, u * i) of pooled vectors."""

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the weights."""

    def pairs(self, parameters: Parameters, users: Tensor, items: Tensor, batch: PairBatch, sizes: Sizes) -> Tensor:
        """Return f of a batch's pairs, [m, 1 + negatives].

        Args:
            parameters: of all packed clients.
            users: pooled vectors of the batch's users [a, d].
            items: of its items [b, d].
            batch: its pairs.
            sizes: rows of users, rows of items and pairs of each client.
        """

    def scorer(self, own: Parameters, users: Tensor, items: Tensor) -> Scorer:
        """Return f of all pairs of one client, from its parameters [...] and pooled vectors."""


@dataclass(frozen=True)
class Sizes:
    """Rows of users, rows of items and pairs of each packed client."""

    users: list[int]
    items: list[int]
    pairs: list[int]


@dataclass(frozen=True)
class AffinePrediction:
    """f = a . u + b . i + (w * u) . i + c, the form of the released code; all pairs take one product of two tables."""

    width: int

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare ``predict1`` [3 d, 1]."""
        return declared(PREDICT, [3 * self.width, 1])

    def pairs(self, parameters: Parameters, users: Tensor, items: Tensor, batch: PairBatch, sizes: Sizes) -> Tensor:
        """Return f of a batch's pairs, [m, 1 + negatives]."""
        weight, bias = parameters[f"{PREDICT}1.weight"].squeeze(2), parameters[f"{PREDICT}1.bias"]
        left = _left(own_rows(weight, sizes.users), own_rows(bias, sizes.users), users)
        return pair_products(left, _right(own_rows(weight, sizes.items), items), batch.user, batch.item)

    def scorer(self, own: Parameters, users: Tensor, items: Tensor) -> Scorer:
        """Return f of all pairs of one client."""
        weight = own[f"{PREDICT}1.weight"].view(1, -1)
        return InnerProduct(_left(weight, own[f"{PREDICT}1.bias"].view(1, 1), users), _right(weight, items))


def _left(weight: Tensor, bias: Tensor, users: Tensor) -> Tensor:
    """Return [w * u | a . u + c | 1]."""
    a, _, w = weight.chunk(3, dim=1)
    alone = (a * users).sum(1, keepdim=True) + bias
    return torch.cat([w * users, alone, torch.ones_like(alone)], dim=1)


def _right(weight: Tensor, items: Tensor) -> Tensor:
    """Return [i | 1 | b . i]."""
    alone = (weight.chunk(3, dim=1)[1] * items).sum(1, keepdim=True)
    return torch.cat([items, torch.ones_like(alone), alone], dim=1)


@dataclass(frozen=True)
class DeepPrediction:
    """f with hidden layers 3 d -> d -> ... -> d -> 1, tanh inside (LGCN's code has three layers)."""

    width: int
    layers: int

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare ``predict<k>``."""
        return declared(PREDICT, [3 * self.width, *([self.width] * (self.layers - 1)), 1])

    def pairs(self, parameters: Parameters, users: Tensor, items: Tensor, batch: PairBatch, sizes: Sizes) -> Tensor:
        """Return f of a batch's pairs, [m, 1 + negatives]."""
        i = items.index_select(0, batch.item.flatten())
        u = users.index_select(0, batch.user).repeat_interleave(batch.item.shape[1], dim=0)
        each = [batch.item.shape[1] * pairs for pairs in sizes.pairs]
        first = times_own(torch.cat([u, i, u * i], dim=1), parameters[f"{PREDICT}1.weight"], each)
        return deeper(parameters, PREDICT, first, each).view(batch.item.shape)

    def scorer(self, own: Parameters, users: Tensor, items: Tensor) -> Scorer:
        """Return f of all pairs of one client."""
        return DeepScorer({name: value.unsqueeze(0) for name, value in own.items()}, users, items)


@dataclass(frozen=True)
class DeepScorer:
    """Scores of one client by hidden layers, a user at a time."""

    parameters: Parameters
    users: Tensor
    items: Tensor

    def scores(self, users: Tensor) -> Tensor:
        """Return the scores of all items, [len(users), items]."""
        a, b, w = self.parameters[f"{PREDICT}1.weight"][0].chunk(3)
        of_items, rows = self.items @ b, self.users[users]
        firsts = ((u @ a) + of_items + self.items @ (u[:, None] * w) for u in rows)
        return torch.stack([deeper(self.parameters, PREDICT, x, [len(x)]).squeeze(1) for x in firsts])


def prediction_of(layers: int, width: int) -> Prediction:
    """Return the prediction network with that many layers."""
    return AffinePrediction(width) if layers == 1 else DeepPrediction(width, layers)
