"""Euclidean projection on the probability simplex."""

from __future__ import annotations

import torch
from torch import Tensor


def projected(points: Tensor) -> Tensor:
    """Return the nearest points of the simplex to the rows of [S, K]: max(x - theta, 0), theta such that the sum is 1.

    theta is the mean excess over the largest m entries, m the most for which they all stay positive (Held, Wolfe,
    Crowder 1974).
    """
    falling = points.sort(1, descending=True).values
    counts = torch.arange(1, points.shape[1] + 1, dtype=points.dtype, device=points.device)
    excess = (falling.cumsum(1) - 1) / counts
    most = (falling > excess).sum(1, keepdim=True)
    return (points - excess.gather(1, most - 1)).clamp(min=0)
