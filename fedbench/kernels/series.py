"""The Gaussian kernel as a power series, for scores that are narrow against the kernel's width.

Expanding exp(2 s t / sigma^2) gives k(s, t) = sum_n f_n(s) f_n(t) with
    f_n(s) = exp(-s^2 / sigma^2) (sqrt(2) s / sigma)^n / sqrt(n!).
All terms are bounded by 1, so nothing overflows. For |s|, |t| <= bound, what the first terms leave out is at most
P[Poisson(2 bound^2 / sigma^2) >= terms], since exp(-(s^2 + t^2) / sigma^2) <= exp(-2 |s t| / sigma^2).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor


def terms_for(bound: float, sigma: float, tolerance: float) -> int:
    """Return how many terms keep the kernel's absolute error below ``tolerance`` for scores in [-bound, bound].

    Uses the tail bound P[Poisson(m) >= r] <= pmf(r) / (1 - m / (r + 1)), valid for r >= m.
    """
    mean = 2.0 * (bound / sigma) ** 2
    terms = math.ceil(mean) + 1
    while mean > 0 and _log_tail(mean, terms) > math.log(tolerance):
        terms += 1
    return terms


def _log_tail(mean: float, terms: int) -> float:
    log_pmf = terms * math.log(mean) - mean - math.lgamma(terms + 1)
    return log_pmf - math.log1p(-mean / (terms + 1))


def series_features(scores: Tensor, sigma: float, terms: int) -> Tensor:
    """Return f_n(s) [..., terms] for scores [...]."""
    features: Tensor = _Features.apply(scores, sigma, terms)
    return features


class _Features(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, sigma: float, terms: int) -> Tensor:
        ratios = scores.new_empty(*scores.shape, terms)
        orders = torch.arange(1, terms, dtype=scores.dtype, device=scores.device)
        ratios[..., 0] = torch.exp(-((scores / sigma) ** 2))
        ratios[..., 1:] = (math.sqrt(2.0) / sigma) * scores.unsqueeze(-1) / orders.sqrt()
        features = ratios.cumprod(-1)
        ctx.save_for_backward(scores, features, orders)
        ctx.sigma = sigma
        return features

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        """Use f_n' = -2 s / sigma^2 f_n + sqrt(2 n) / sigma f_(n-1)."""
        scores, features, orders = ctx.saved_tensors
        decay = -2.0 / ctx.sigma**2 * scores * (gradients[0] * features).sum(-1)
        lift = (gradients[0][..., 1:] * features[..., :-1] * (2.0 * orders).sqrt()).sum(-1) / ctx.sigma
        return decay + lift, None, None
