"""What LPSFed's clients and server keep from round to round."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.methods._lpsfed_popularity import PackedCodes


@dataclass
class Memory:
    """Codes of popularity, the anchor's size, and what the last round left.

    Attributes:
        users: code of each user of each client, int64[users].
        items: code of each item of each client, int64[items].
        anchor: users, items and pairs of the anchor.
        last: mean margin of each client's last batch, [S, K].
        received: M_c,upd [S, K]; None before the first server step.
        rho: rho_c of the last round, [S, K]; None before it, or where nothing is personal.
        similarity: rho bar likewise.
    """

    users: list[Tensor]
    items: list[Tensor]
    anchor: list[int]
    last: Tensor
    received: Tensor | None = None
    rho: Tensor | None = None
    similarity: Tensor | None = None

    def codes_of(self, clients: range, seeds: int, device: torch.device) -> PackedCodes:
        """Return the codes of clients computed together, seed-major."""
        own = [[part[k].to(device) for k in clients] * seeds for part in (self.users, self.items)]
        return PackedCodes.of(*own)


def part_of(values: Tensor, clients: range) -> Tensor:
    """Return some clients' own of [S, K, ...], a view."""
    return values[:, clients.start : clients.stop]
