"""Which clients are computed together in one step. Changes speed only.

On a GPU: all. On a CPU: as many as `PACKED_PARAMETERS` allows. Packing saves overhead up to some million numbers; above
that it gains nothing and only costs memory, since a step holds about ten arrays of the parameters' size (measured in
``docs/benchmarks.md``).
"""

from __future__ import annotations

import torch

PACKED_PARAMETERS = 1 << 24


def client_packs(clients: int, parameters: int, seeds: int, device: torch.device) -> list[range]:
    """Return consecutive ranges of clients.

    Args:
        clients: number of clients K.
        parameters: trainable numbers of one client.
        seeds: seeds computed at once; with more than one, all clients form one pack.
        device: where the step runs.
    """
    if device.type != "cpu" or seeds > 1:
        return [range(clients)]
    size = max(1, PACKED_PARAMETERS // max(parameters, 1))
    return [range(first, min(first + size, clients)) for first in range(0, clients, size)]
