"""Local differential privacy by clipped gradients and Laplace noise (FedGNN, FedPerGNN, equation 1 of both)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fedbench import seeds as streams
from fedbench.configuration.protocol import TrainingSettings
from fedbench.methods.exchange import Cell
from fedbench.models.network import Network

Steps = Sequence[tuple[int, int]]
"""(client, local steps that it has taken in the round) of some clients."""


def add_laplace(stack: Tensor, scale: float, seeds: Sequence[int], steps: Steps, at: tuple[int, str]) -> None:
    """Add independent Laplace(0, scale) numbers to a stack [S, k, ...], in place.

    Args:
        stack: clipped gradients.
        scale: lambda.
        seeds: run seeds, S of them.
        steps: the k clients.
        at: round and parameter, which name the stream together with seed, client and local step.
    """
    for seed, of_seed in zip(seeds, stack, strict=True):
        for (client, step), values in zip(steps, of_seed, strict=True):
            random = streams.generator("fedgnn noise", seed, client, at[0], step, at[1])
            values += torch.from_numpy(random.laplace(0.0, scale, tuple(values.shape))).to(values)


def privacy_budget(
    clip: float, noise: float, network: Network, training: TrainingSettings, cell: Cell
) -> dict[str, Any]:
    """Return the budget of a run in which all of a network's numbers leave a client in every step; see `composed`."""
    numbers = sum(math.prod(parameter.shape) for parameter in network.parameters().values())
    return composed(clip, noise, numbers, int(cell.train_nodes.max()), training)


def composed(clip: float, noise: float, numbers: int, points: int, training: TrainingSettings) -> dict[str, Any]:
    """Return the budget that clipping to +-clip and Laplace(0, noise) gives.

    One number of one step: epsilon = 2 clip / noise (FedGNN, section 3.5), the only figure that the papers of FedGNN
    and FedPerGNN state; ``noise`` is the scale of what is added to what was clipped. Budgets add up over the steps of a
    run, and over the numbers of a gradient, whose L1 sensitivity is 2 clip times their count.

    Args:
        clip: delta.
        noise: lambda, the least where it varies.
        numbers: that leave a client in a step, at most.
        points: that a client trains on, at most.
        training: rounds, local epochs and batches.
    """
    steps = training.rounds * training.local_epochs * math.ceil(points / (training.batch_size or max(points, 1)))
    epsilon = 2 * clip / noise
    return {
        "epsilon_of_a_number_in_a_step": epsilon,
        "local_steps": steps,
        "epsilon_of_a_number_in_the_run": epsilon * steps,
        "numbers_in_a_gradient": numbers,
        "epsilon_of_a_gradient_in_a_step": epsilon * numbers,
        "epsilon_of_the_run": epsilon * numbers * steps,
    }
