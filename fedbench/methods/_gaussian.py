"""Gaussian noise on figures that clients report, and the privacy budget that it gives."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from fedbench import seeds as streams


def add_gaussian(
    stack: Tensor, deviation: float, seeds: Sequence[int], clients: range, at: tuple[str | int, ...]
) -> None:
    """Add independent N(0, deviation^2) numbers to a stack [S, k, ...], in place; nothing where the deviation is 0.

    Args:
        stack: what clients report.
        deviation: sigma.
        seeds: run seeds, S of them.
        clients: k consecutive ones.
        at: what the numbers are for, and the round; they name the stream together with seed and client.
    """
    if not deviation:
        return
    for seed, of_seed in zip(seeds, stack, strict=True):
        for client, values in zip(clients, of_seed, strict=True):
            random = streams.generator("gaussian noise", seed, client, *at)
            values += torch.from_numpy(deviation * random.standard_normal(tuple(values.shape))).to(values)


def gaussian_budget(deviation: float, sensitivity: float, times: int, delta: float) -> dict[str, float | None]:
    """Return the budget of reporting with N(0, deviation^2) noise ``times`` times; rho, epsilon are None without noise.

    Zero-concentrated differential privacy (Bun & Steinke 2016): rho = sensitivity^2 / (2 sigma^2) a report, budgets add
    up, and epsilon = rho + 2 sqrt(rho ln(1 / delta)) (proposition 1.3).

    Args:
        deviation: sigma.
        sensitivity: how far one user can move a report, as a Euclidean length.
        times: reports.
        delta: for which epsilon is stated.
    """
    stated: dict[str, float | None] = {
        "sigma": deviation, "sensitivity": sensitivity, "reports": times, "delta": delta,
        "rho_of_a_report": None, "rho_of_the_run": None, "epsilon_of_the_run": None,
    }  # fmt: skip
    if not deviation:
        return stated
    rho = sensitivity**2 / (2 * deviation**2)
    epsilon = rho * times + 2 * math.sqrt(rho * times * math.log(1 / delta))
    return stated | {"rho_of_a_report": rho, "rho_of_the_run": rho * times, "epsilon_of_the_run": epsilon}
