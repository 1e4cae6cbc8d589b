"""Tables that clients share row by row: each row is averaged over the clients that have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fedbench import seeds as streams
from fedbench.models.parameters import Parameter


@dataclass(frozen=True)
class RowTable:
    """One table of all clients.

    ``names``: of every client's rows, int64[n_k], ascending. ``values``: [S, n_k, d] of every client, changed in place.
    """

    names: Sequence[np.ndarray]
    values: Sequence[Tensor]

    @cached_property
    def common(self) -> dict[tuple[int, int], tuple[Tensor, Tensor]]:
        """Places of the rows that two clients both have, in each one's table."""
        clients, device = range(len(self.names)), self.values[0].device
        found = {}
        for k in clients:
            for other in clients:
                _, here, there = np.intersect1d(self.names[k], self.names[other], True, return_indices=True)
                found[k, other] = torch.from_numpy(here).to(device), torch.from_numpy(there).to(device)
        return found

    @cached_property
    def bytes(self) -> int:
        """What all clients send of their rows that another client has too, 4 a number."""
        holders = np.bincount(np.concatenate(self.names))
        rows = int(sum((holders[names] > 1).sum() for names in self.names))
        return 4 * rows * self.values[0].shape[2]

    def mix(self, weights: Tensor) -> None:
        """Set row i of client k to sum_l W[k, l] row i of l / sum_l W[k, l], l over the clients that have i.

        Args:
            weights: W [S, K, K]. A row whose holders have no weight stays.
        """
        before = [values.clone() for values in self.values]
        for k, own in enumerate(self.values):
            total, mass = torch.zeros_like(own), own.new_zeros(len(own), own.shape[1], 1)
            for other, theirs in enumerate(before):
                here, there = self.common[k, other]
                weight = weights[:, k, other].view(-1, 1, 1)
                total.index_add_(1, here, weight * theirs.index_select(1, there))
                mass.index_add_(1, here, weight.expand(-1, len(here), 1))
            own.copy_(torch.where(mass > 0, total / mass, own))


def initial_rows(parameter: Parameter, name: str, seed: int, names: np.ndarray) -> np.ndarray:
    """Return a table's start, in which a row depends on its name and not on who has it (float64)."""
    random = streams.generator("weights", seed, name)
    return parameter.initial(random, (int(names.max()) + 1, *parameter.shape[1:]))[names]
