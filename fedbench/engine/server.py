"""The server's step: collect uploads, ask the method for W, set the shared parameters to W . uploaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fedbench.engine.cohort import Cohort
from fedbench.methods.base import Method
from fedbench.models.parameters import Parameters


@dataclass(frozen=True)
class Traffic:
    """Bytes of one client in one round (4 bytes a number, whatever the computing precision)."""

    up: int
    down: int


def shared_stacks(method: Method[Any], cohort: Cohort) -> dict[str, Tensor]:
    """Return the shared parameters as views [S, K, ...]."""
    return {name: stack for name, stack in cohort.by_client().items() if method.shares(name)}


def server_step(
    method: Method[Any], cohort: Cohort, effective: Parameters, public: Any
) -> tuple[Tensor | None, Traffic]:
    """Combine the uploads in place; return W [S, K, K] (None if nothing is shared) and one client's traffic.

    Args:
        method: says what is shared, signalled and how it is mixed.
        cohort: its shared parameters are replaced.
        effective: parameters as evaluated, stacks [S * K, ...], for the clients' signals.
        public: what the server published before round 1.
    """
    shared = shared_stacks(method, cohort)
    if not shared:
        return None, Traffic(0, 0)
    signals = method.signals(cohort.network, cohort.by_client(effective), public)
    weights = method.mixing({**shared, **signals}, cohort.cell)
    for stack in shared.values():
        mix(weights, stack)
    down = bytes_of(shared)
    return weights, Traffic(up=down + bytes_of(signals), down=down)


def mix(weights: Tensor, stack: Tensor) -> None:
    """Replace ``stack`` [S, K, ...] by W . stack, W [S, K, K]; where all rows are one row, by one product with it."""
    flat = stack.view(*stack.shape[:2], -1)
    rows = weights[:, :1] if weights.stride(1) == 0 else weights
    flat.copy_(torch.bmm(rows, flat))


def bytes_of(stacks: dict[str, Tensor]) -> int:
    """Return the bytes one client sends for the stacks [S, K, ...], as float32."""
    return sum(4 * stack[0, 0].numel() for stack in stacks.values())
