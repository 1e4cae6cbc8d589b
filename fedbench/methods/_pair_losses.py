"""Losses of a batch's pairs and of the items drawn beside them, and their means over users.

`PairScores.scores` [m, 1 + n]: the pair taken first, then n items not taken. A loss is [m].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from fedbench.models.ranking import PairScores
from fedbench.tasks.rec.block import Batch

MeanOver = Literal["users", "pairs"]


def bpr(scores: Tensor) -> Tensor:
    """Return -ln sigmoid(y_ui - y_uj), the mean over the items j not taken."""
    return -logsigmoid(scores[:, :1] - scores[:, 1:]).mean(1)


def squared_error(scores: Tensor) -> Tensor:
    """Return (1 - y_ui)^2 + sum_j y_uj^2: targets 1 and 0."""
    return (1 - scores[:, 0]).square() + scores[:, 1:].square().sum(1)


def cross_entropy(scores: Tensor) -> Tensor:
    """Return the binary cross-entropy of sigmoid(y) with targets 1 and 0, the mean over a pair's 1 + n entries."""
    return (softplus(-scores[:, 0]) + softplus(scores[:, 1:]).sum(1)) / scores.shape[1]


def with_penalty(batch: Batch, outputs: PairScores, loss: Callable[[Tensor], Tensor]) -> Tensor:
    """Return each pair's loss plus the protocol's l2 / 2 times the squared vectors behind it, [m]."""
    return loss(outputs.scores) + batch.penalty(outputs)


def sums(batch: Batch, values: Tensor) -> Tensor:
    """Return the sum of ``values`` [m] over each client's pairs, [clients]."""
    return torch.stack([part.sum() for part in values.split(batch.sizes)])


def pair_weights(batch: Batch, mean_over: MeanOver) -> Tensor:
    """Return what makes sums over a client's pairs means over its pairs, or over its users of each user's mean, [m]."""
    sizes = torch.tensor(batch.sizes, device=batch.device)
    if mean_over == "pairs":
        return 1 / sizes.to(batch.block.place.dtype).repeat_interleave(sizes)
    pairs = torch.bincount(batch.user, minlength=len(batch.user_rows))
    return 1 / (pairs[batch.user] * times_of_users(batch, mean_over).repeat_interleave(sizes))


def times_of_users(batch: Batch, mean_over: MeanOver) -> Tensor:
    """Return how much longer the steps of users are than the loss's gradient, so that each has its own, [clients].

    It is the number of the client's users in a batch whose loss is the mean over users (1 if there is none), else 1.
    """
    ones = torch.ones(len(batch.sizes), dtype=batch.block.place.dtype, device=batch.device)
    if mean_over == "pairs":
        return ones
    owner = batch.user_rows // batch.block.clients[0].users
    return torch.bincount(owner, minlength=len(batch.sizes)).to(ones).clamp(min=1)
