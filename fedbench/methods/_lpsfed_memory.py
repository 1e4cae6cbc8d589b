"""What LPSFed's clients and server keep from round to round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from fedbench.methods._lpsfed_popularity import PackedCodes
from fedbench.methods.exchange import REMADE


@dataclass
class Positives:
    """What the round's local steps saw of pairs taken, [S, K] each: how many, the sum of R, how many are at pi.

    Where R + M~ is cut at pi the cosine is smallest and its slope 0: such a pair has no gradient of its own.
    """

    pairs: Tensor
    angles: Tensor
    at_pi: Tensor

    def add(self, clients: range, sizes: tuple[int, ...], angles: Tensor, at_pi: Tensor) -> None:
        """Add a step's pairs: ``angles`` [m] and bool ``at_pi`` [m], ``sizes`` of each packed client."""
        counts = self.pairs.new_tensor(sizes)
        sums = (torch.stack([part.sum() for part in values.split(sizes)]) for values in (angles, at_pi.to(angles)))
        for total, new in zip((self.pairs, self.angles, self.at_pi), (counts, *sums), strict=True):
            mine = part_of(total, clients)
            mine += new.view_as(mine)

    def figures(self) -> dict[str, Tensor]:
        """Return the mean angle and the share at pi, and begin anew; NaN where there was no step with margins."""
        found = {"positive_angle": self.angles / self.pairs, "positives_at_pi": self.at_pi / self.pairs}
        for total in (self.pairs, self.angles, self.at_pi):
            total.zero_()
        return found


@dataclass
class Memory:
    """Codes of popularity, the anchor's size, and what the last round left.

    Attributes:
        users: code of each user of each client, int64[users].
        items: code of each item of each client, int64[items].
        anchor: users, items and pairs of the anchor.
        last: mean margin of each client's last batch, [S, K].
        positives: pairs taken, in the round.
        received: M_c,upd [S, K]; None before the first server step.
        rho: rho_c of the last round, [S, K]; None before it, or where nothing is personal.
        similarity: rho bar likewise.
        frozen: what codes give once they don't change any more, by the first of clients computed together.
    """

    users: list[Tensor]
    items: list[Tensor]
    anchor: list[int]
    last: Tensor
    positives: Positives
    received: Tensor | None = None
    rho: Tensor | None = None
    similarity: Tensor | None = None
    frozen: dict[int, tuple[PackedCodes, Tensor]] = field(default_factory=dict, metadata=REMADE)

    def codes_of(self, clients: range, seeds: int, device: torch.device) -> PackedCodes:
        """Return the codes of clients computed together, seed-major."""
        own = [[part[k].to(device) for k in clients] * seeds for part in (self.users, self.items)]
        return PackedCodes.of(*own)

    def once_frozen(self, clients: range, make: Callable[[], tuple[PackedCodes, Tensor]]) -> tuple[PackedCodes, Tensor]:
        """Return codes and their table of angles, computed once."""
        if clients.start not in self.frozen:
            self.frozen[clients.start] = make()
        return self.frozen[clients.start]


def part_of(values: Tensor, clients: range) -> Tensor:
    """Return some clients' own of [S, K, ...], a view."""
    return values[:, clients.start : clients.stop]
