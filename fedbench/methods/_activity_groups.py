"""Users grouped by activity, what the groups report, and how long their steps are (F2MF)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from fedbench.methods.exchange import Cell
from fedbench.tasks.rec.arrays import ClientPairs

GROUPS = 2
"""0: as many training pairs as the mean, or fewer; 1: more."""


@dataclass
class Groups:
    """The clients' groups.

    Attributes:
        member: group of every client's users, int64[users].
        lengths: D, step size of each group, [S, groups].
        round: now, from 1.
        totals: losses of the round's pairs and their number, of each packed user, [2, S * k * users], by the pack's
            first client; empty between rounds.
    """

    member: list[Tensor]
    lengths: Tensor
    round: int = 1
    totals: dict[str, Tensor] = field(default_factory=dict)

    def members_of(self, clients: range) -> Tensor:
        """Return the group of every packed user, int64[S * k * users]."""
        own = torch.cat([self.member[client] for client in clients]).to(self.lengths.device)
        return own.repeat(len(self.lengths))

    def lengths_of(self, clients: range) -> Tensor:
        """Return D of every packed user, [S * k * users]."""
        groups = self.members_of(clients).view(len(self.lengths), -1)
        return self.lengths.gather(1, groups).flatten()

    def note(self, clients: range, user: Tensor, losses: Tensor) -> None:
        """Add a step's losses [m] to those of the packed users int64[m]."""
        both = torch.stack([losses, torch.ones_like(losses)])
        self.totals.setdefault(str(clients.start), self._nothing(clients)).index_add_(1, user, both)

    def _nothing(self, clients: range) -> Tensor:
        return self.lengths.new_zeros(2, len(self.lengths) * sum(len(self.member[client]) for client in clients))

    def reports(self, clients: range, floor: float) -> tuple[Tensor, Tensor]:
        """Return each group's sum of performances and its users, [S, k, groups], and forget the round's losses.

        A user's performance is 1 - its mean loss in the round, not under ``floor``; users without a pair don't count.
        """
        losses, pairs = self.totals.pop(str(clients.start), self._nothing(clients))
        present = (pairs > 0).to(losses.dtype)
        performance = (1 - losses / pairs.clamp(min=1)).clamp(min=floor) * present
        groups = torch.nn.functional.one_hot(self.members_of(clients), GROUPS).to(losses.dtype)
        by_user = torch.stack([performance, present])[:, :, None] * groups
        sums = by_user.view(2, len(self.lengths), len(clients), -1, GROUPS).sum(3)
        return sums[0], sums[1]


def groups_of(clients: Sequence[ClientPairs], cell: Cell, mean_of: Literal["client", "all"]) -> Groups:
    """Return the memory before round 1, D = 1.

    Args:
        clients: their pairs.
        cell: sizes, seeds, device.
        mean_of: whose users' mean number of training pairs divides them.
    """
    counts = [np.bincount(client.train[0], minlength=client.users) for client in clients]
    whole = np.concatenate(counts).mean()
    means = {"client": [own.mean() for own in counts], "all": [whole] * len(counts)}[mean_of]
    member = [torch.from_numpy((own > mean).astype(np.int64)) for own, mean in zip(counts, means, strict=True)]
    lengths = torch.ones(len(cell.seeds), GROUPS, dtype=cell.dtype, device=cell.device)
    return Groups(member, lengths)


def step_lengths(sums: Tensor, users: Tensor, weight: float, rho: float) -> Tensor:
    """Return D_G = 1 - weight rho sum_{G' != G} sign(A_G - A_G') |A_G - A_G'|^(rho - 1), [S, groups].

    A group with less than half a user in all, after noise, has no mean; it is then as if there were no other.

    Args:
        sums: of performances over all clients, [S, groups].
        users: likewise.
        weight: lambda.
        rho: power of the differences.
    """
    mean = sums / users.clamp(min=0.5)
    known = users >= 0.5
    gaps = mean[:, :, None] - mean[:, None, :]
    pulls = gaps.sign() * gaps.abs().pow(rho - 1) * (known[:, :, None] & known[:, None, :])
    return 1 - weight * rho * pulls.sum(2)
