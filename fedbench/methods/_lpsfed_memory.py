"""What LPSFed's clients and server keep from round to round."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from fedbench.methods._lpsfed_anchor import Sizes
from fedbench.methods._lpsfed_popularity import Codes, PackedCodes


@dataclass
class Memory:
    """Codes of popularity, the anchor's size, and what the last round left.

    Attributes:
        codes: of each client.
        anchor: users, items and pairs of the anchor.
        last: mean margin of each client's last batch, [S, K].
        received: M_c,upd [S, K]; None before the first server step.
        rho: rho_c of the last round, [S, K]; None before it, or where nothing is personal.
        similarity: rho bar likewise.
    """

    codes: list[Codes]
    anchor: Sizes
    last: Tensor
    received: Tensor | None = None
    rho: Tensor | None = None
    similarity: Tensor | None = None
    _packed: dict[range, PackedCodes] = field(default_factory=dict)

    def codes_of(self, clients: range, seeds: int, device: torch.device) -> PackedCodes:
        """Return the codes of clients computed together, seed-major."""
        if clients not in self._packed:
            self._packed[clients] = PackedCodes.of([self.codes[k] for k in clients] * seeds, device)
        return self._packed[clients]


def part_of(values: Tensor, clients: range) -> Tensor:
    """Return some clients' own of [S, K, ...], a view."""
    return values[:, clients.start : clients.stop]
