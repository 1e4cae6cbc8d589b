"""The Gaussian kernel as a sum over frequencies, for scores that are wide against the kernel's width.

The trapezoidal rule on the kernel's Fourier integral, with spacing 2 pi / P, gives
    k(s, t) = sum_{m=-M..M} w_m cos(m (2 pi / P) (s - t)),  w_m = (sqrt(pi) sigma / P) exp(-(m pi sigma / P)^2),
up to two errors. Poisson's summation adds the kernel's copies at distance P: with |s - t| <= width and
P = width + c sigma at most 2 exp(-c^2) and what is smaller by far. Frequencies above M = c P / (pi sigma) are left out:
at most erfc(c). Together below 3 exp(-c^2), so c = sqrt(log(3 / tolerance)). Terms grow with width / sigma, not with
its square as the series' do.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor


def frequencies_for(width: float, sigma: float, tolerance: float) -> tuple[int, float]:
    """Return M and the spacing 2 pi / P that keep the kernel's absolute error below ``tolerance``.

    Args:
        width: a bound on |s - t|.
        sigma: kernel width.
        tolerance: of the kernel, absolute.
    """
    reach = math.sqrt(math.log(3.0 / tolerance))
    period = width + reach * sigma
    return math.ceil(reach * period / (math.pi * sigma)), 2.0 * math.pi / period


def frequency_features(scores: Tensor, sigma: float, frequencies: int, spacing: float) -> Tensor:
    """Return features [..., 2 M + 1] of scores [...] whose inner products are the kernel: cosines, then sines."""
    omega = spacing * torch.arange(frequencies + 1, dtype=scores.dtype, device=scores.device)
    weight = sigma * spacing / (2.0 * math.sqrt(math.pi)) * torch.exp(-((sigma * omega / 2.0) ** 2))
    weight[1:] *= 2.0  # m and -m
    features: Tensor = _Features.apply(scores, omega, weight.sqrt())
    return features


class _Features(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, omega: Tensor, scale: Tensor) -> Tensor:
        angles = scores.unsqueeze(-1) * omega
        features = torch.cat([angles.cos() * scale, angles[..., 1:].sin() * scale[1:]], dim=-1)
        ctx.save_for_backward(features, omega)
        return features

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        """Use cos' = -omega sin and sin' = omega cos."""
        features, omega = ctx.saved_tensors
        count = len(omega)
        cosines, sines = features[..., 1:count], features[..., count:]
        to_cosines, to_sines = gradients[0][..., 1:count], gradients[0][..., count:]
        return ((to_sines * cosines - to_cosines * sines) * omega[1:]).sum(-1), None, None
