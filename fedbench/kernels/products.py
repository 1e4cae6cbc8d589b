"""All inner products of two tables of vectors."""

from __future__ import annotations

import torch
from torch import Tensor

_AT_ONCE = 1024  # columns: as a product of a few hundred rows, they stay in a core's cache while they are written


@torch.no_grad()
def inner_products(rows: Tensor, columns: Tensor) -> Tensor:
    """Return rows . columns', [n, m], for vectors ``rows`` [n, d] and ``columns`` [m, d]; no gradient.

    On a CPU in strips of columns: vectors are short, so a product as wide as a catalogue waits for memory, not for
    arithmetic (docs/benchmarks.md).
    """
    if rows.device.type != "cpu":
        return rows @ columns.T
    out = rows.new_empty(len(rows), len(columns))
    for strip, some in zip(out.split(_AT_ONCE, dim=1), columns.split(_AT_ONCE), strict=True):
        torch.mm(rows, some.T, out=strip)
    return out
