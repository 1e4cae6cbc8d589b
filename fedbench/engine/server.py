"""The server's step: collect uploads, ask the method for W, set the shared parameters to W . uploaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fedbench.engine.cohort import Cohort
from fedbench.methods.base import Method

_MIXED_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class Traffic:
    """Bytes of one client in one round (4 bytes a number, whatever the computing precision)."""

    up: int
    down: int


def server_step(method: Method[Any], cohort: Cohort, signals: dict[str, Tensor]) -> tuple[Tensor | None, Traffic]:
    """Combine the uploads in place; return W [S, K, K] (None if nothing is shared) and one client's traffic.

    Args:
        method: says what is shared and how it is mixed.
        cohort: its shared parameters are replaced.
        signals: what clients upload beside parameters, name to [S, K, ...].
    """
    shared = {name: stack for name, stack in cohort.by_client(cohort.parameters).items() if method.shares(name)}
    if not shared:
        return None, Traffic(0, 0)
    weights = method.mixing({**shared, **signals}, cohort.cell)
    for stack in shared.values():
        mix(weights, stack)
    down = bytes_of(shared)
    return weights, Traffic(up=down + bytes_of(signals), down=down)


def mix(weights: Tensor, stack: Tensor) -> None:
    """Replace ``stack`` [S, K, ...] by W . stack, W [S, K, K]; where all rows are one row, by one product with it.

    Taken some columns at a time: one product over all of them is slower and needs several copies of the stack.
    """
    rows = weights[:, :1] if weights.stride(1) == 0 else weights
    for part in stack.view(*stack.shape[:2], -1).split(_MIXED_AT_ONCE, dim=2):
        part.copy_(torch.bmm(rows, part))


def bytes_of(stacks: dict[str, Tensor]) -> int:
    """Return the bytes one client sends for the stacks [S, K, ...], as float32."""
    return sum(4 * stack[0, 0].numel() for stack in stacks.values())
