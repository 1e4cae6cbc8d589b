"""The server's step: collect uploads, ask the method for W, set the shared parameters to W . uploaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fedbench.engine.rows import RowTable
from fedbench.methods.base import Method
from fedbench.methods.exchange import Exchange, Traffic

_MIXED_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class ServerStep:
    """What a step did: W [S, K, K] (None if nothing is shared), the traffic, the method's diagnostics [S, K]."""

    weights: Tensor | None
    traffic: Traffic
    diagnostics: dict[str, Tensor]


def server_step(
    method: Method[Any],
    shared: dict[str, Tensor],
    signals: dict[str, Tensor],
    exchange: Exchange,
    rows: Mapping[str, RowTable],
) -> ServerStep:
    """Combine the uploads in place.

    Args:
        method: says how they are mixed.
        shared: parameters that are uploaded, name to [S, K, ...]; replaced by W . shared + kept * received.
        signals: what clients upload beside parameters, name to [S, K, ...].
        exchange: what else the server knows.
        rows: tables that clients share row by row; W mixes each row among the clients that have it.
    """
    if not shared and not rows:
        return ServerStep(None, Traffic(), {})
    uploads = {**shared, **signals}
    weights, kept = method.mixing(uploads, exchange), method.kept(uploads, exchange)
    diagnostics = method.diagnostics(uploads, exchange)
    for name, stack in shared.items():
        mix(weights, stack)
        if kept is not None:
            stack.add_(kept.view(*kept.shape, *(1,) * (stack.dim() - 2)) * exchange.received[name])
    for table in rows.values():
        table.mix(weights)
    sent, of_rows = method.traffic(shared, signals, exchange), sum(table.bytes for table in rows.values())
    return ServerStep(weights, Traffic(sent.up + of_rows, sent.down + of_rows), diagnostics)


def mix(weights: Tensor, stack: Tensor) -> None:
    """Replace ``stack`` [S, K, ...] by W . stack, W [S, K, K]; where all rows are one row, by one product with it.

    Otherwise some columns at a time: one product over all of them is slower and needs several copies of the stack.
    """
    columns = stack.view(*stack.shape[:2], -1)
    if weights.stride(1) == 0:
        columns.copy_(torch.bmm(weights[:, :1], columns))
        return
    for part in columns.split(_MIXED_AT_ONCE, dim=2):
        part.copy_(torch.bmm(weights, part))
