"""FedPerGNN's private gradients: pseudo-items' gradients, clipping, Laplace noise, and the budget they give."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.methods._fedpergnn_expansion import ExpandedPairs
from fedbench.methods._laplace import composed
from fedbench.models.parameters import Parameter
from fedbench.models.vectors import ITEMS, USERS


def pseudo_gradients(real: Tensor, count: int, random: np.random.Generator) -> Tensor:
    """Return ``count`` rows from a normal distribution with the mean and covariance of the real ones (section 3.3).

    Args:
        real: gradients of real items, [m, d]; those that are not zero count.
        count: rows wanted.
        random: draws.
    """
    rows = real[(real != 0).any(1)].double()
    if not len(rows):
        return real.new_zeros(count, real.shape[1])
    centred = rows - rows.mean(0)
    values, vectors = torch.linalg.eigh(centred.T @ centred / max(len(rows) - 1, 1))
    root = vectors * values.clamp(min=0).sqrt() @ vectors.T
    drawn = torch.from_numpy(random.standard_normal((count, real.shape[1]))).to(root)
    return (rows.mean(0) + drawn @ root).to(real)


def privatised(values: Tensor, clip: float, noise: float, random: np.random.Generator) -> Tensor:
    """Return clip(g, delta) + Laplace(0, lambda), elementwise (equation 1)."""
    drawn = torch.from_numpy(random.laplace(0.0, noise, tuple(values.shape))).to(values)
    return values.clamp(-clip, clip) + drawn


def scale_of(noise: float, users: float, noise_of: str) -> float:
    """Return the scale of the noise on a mean over so many users: lambda / sqrt(users), or lambda of a client."""
    return noise / (math.sqrt(users) if noise_of == "users" else 1.0)


def users_at_most(client: ExpandedPairs, batch_size: int | None) -> int:
    """Return how many users a batch of the client's can have; 1 where it has no pair to learn."""
    users = len(np.unique(client.train[0][client.learnable]))
    return max(min(users, batch_size or users), 1)


def budget(
    clip: float,
    noise: tuple[float, str],
    clients: Sequence[ExpandedPairs],
    declared: Mapping[str, Parameter],
    training: TrainingSettings,
) -> dict[str, Any]:
    """Return the budget of a run (`fedbench.methods._laplace.composed`), that of the noise as it is added.

    What leaves a client are weights, rows of items that others have, and rows of users whose vectors the third party
    gets. What is clipped is a mean over users, so epsilon is 2 clip / `scale_of` the largest batch that a client can
    have: ``noise_scale`` is that scale's range over clients, the budgets are those of the least. The paper's
    2 delta / lambda is that of one user who adds its own noise, before the mean.

    Args:
        clip: delta.
        noise: lambda, and whose noise it is.
        clients: as they train.
        declared: parameters.
        training: rounds, local epochs and batches.
    """
    weights = sum(math.prod(p.shape) for name, p in declared.items() if name not in (USERS, ITEMS))
    width = declared[USERS].shape[1]
    numbers = weights + width * max(int(client.leaving.sum()) + len(client.sent) for client in clients)
    largest = [users_at_most(client, training.batch_size) for client in clients]
    scales = [scale_of(noise[0], users, noise[1]) for users in largest]
    stated = {
        "users_in_a_batch_at_most": [min(largest), max(largest)],
        "noise_scale": [min(scales), max(scales)],
        "epsilon_of_the_paper_for_a_user_in_a_step": 2 * clip / noise[0],
    }
    points = max(len(client.learnable) for client in clients)
    return stated | composed(clip, min(scales), numbers, points, training)
