"""Batch normalisation of packed clients, each over its own rows (Ioffe & Szegedy 2015)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

EPSILON = 1e-5
"""Added to variances; torch's default."""


def batch_norm(x: Tensor, sizes: Sequence[int], scale: Tensor, shift: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return x normalised over each client's rows, and each one's mean and biased variance [clients, width].

    Args:
        x: [clients, slots, width].
        sizes: rows of each client; what stands behind them is padding, and comes out as 0. A client without rows has
            mean 0 and variance 0.
        scale: gamma, [clients, width].
        shift: beta, [clients, width].
    """
    found = [_of_client(*each) for each in zip(x, sizes, scale, shift, strict=True)]
    out, means, variances = zip(*found, strict=True)
    return _stacked(out), _stacked(means), _stacked(variances)


def _stacked(parts: Sequence[Tensor]) -> Tensor:
    """Return the clients' parts as one stack; a single client's is not copied."""
    return parts[0].unsqueeze(0) if len(parts) == 1 else torch.stack(list(parts))


def _of_client(x: Tensor, size: int, scale: Tensor, shift: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    if size == 0:
        return 0 * (x + scale + shift), torch.zeros_like(scale), torch.zeros_like(scale)  # gradients are 0, not absent
    out, mean, inverse = torch.native_batch_norm(x[:size], scale, shift, None, None, True, 0.0, EPSILON)
    if size < len(x):
        out = torch.cat([out, out.new_zeros(len(x) - size, out.shape[1])])
    return out, mean, (inverse**-2 - EPSILON).clamp(min=0)


def normalised(x: Tensor, mean: Tensor, variance: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Return x [clients, rows, width] normalised by given statistics, each [clients, width]."""
    factor = scale * (variance + EPSILON).rsqrt()
    return torch.addcmul((shift - mean * factor).unsqueeze(1), x, factor.unsqueeze(1))
