"""Gaussian-kernel averages over one-dimensional scores without a nodes x nodes matrix.

With k(s, t) = exp(-(s - t)^2 / sigma^2), expanding exp(2 s t / sigma^2) gives k(s, t) = sum_n f_n(s) f_n(t) with
f_n(s) = exp(-s^2 / sigma^2) (sqrt(2) s / sigma)^n / sqrt(n!). All terms are bounded by 1, so nothing overflows. For
|s|, |t| <= bound, what the first ``rank`` terms leave out is at most P[Poisson(2 bound^2 / sigma^2) >= rank], since
exp(-(s^2 + t^2) / sigma^2) <= exp(-2 |s t| / sigma^2). Cost: nodes x rank instead of nodes x nodes.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

_TOLERANCE = {torch.float32: 1e-8, torch.float64: 1e-15}
_LARGEST_EXPONENT = 50.0  # beyond it exp(-s^2 / sigma^2) leaves float32's range
_CHUNK_ENTRIES = 1 << 24  # kernel entries alive at once in the exact form


def rank_for(bound: float, sigma: float, tolerance: float) -> int:
    """Return how many terms keep the kernel's absolute error below ``tolerance`` for scores in [-bound, bound].

    Uses the tail bound P[Poisson(m) >= r] <= pmf(r) / (1 - m / (r + 1)), valid for r >= m.
    """
    mean = 2.0 * (bound / sigma) ** 2
    rank = math.ceil(mean) + 1
    while mean > 0 and _log_tail(mean, rank) > math.log(tolerance):
        rank += 1
    return rank


def _log_tail(mean: float, rank: int) -> float:
    log_pmf = rank * math.log(mean) - mean - math.lgamma(rank + 1)
    return log_pmf - math.log1p(-mean / (rank + 1))


def kernel_average(scores: Tensor, values: Tensor, present: Tensor, sigma: float, bound: float | None = None) -> Tensor:
    """Return z_i = sum_j k(s_i, s_j) v_j / sum_j k(s_i, s_j) over the nodes of each packed client.

    The low-rank form is taken where it is both accurate and smaller, the exact form by chunks of rows elsewhere
    (scores wide against ``sigma``); both are differentiable in ``scores`` and ``values``.

    Args:
        scores: [clients, slots].
        values: [clients, slots, width].
        present: [clients, slots], 1 for a node and 0 for padding (whose z is 0).
        sigma: kernel width.
        bound: a bound on |scores| if one is known, for example 1 for cosines; measured otherwise.
    """
    limit = float(scores.detach().abs().max()) if bound is None else bound
    rank = rank_for(limit, sigma, _TOLERANCE[scores.dtype])
    if (limit / sigma) ** 2 <= _LARGEST_EXPONENT and 2 * rank <= scores.shape[1]:
        return low_rank_average(scores, values, present, sigma, rank)
    return exact_average(scores, values, present, sigma)


def low_rank_average(scores: Tensor, values: Tensor, present: Tensor, sigma: float, rank: int) -> Tensor:
    """Return the average of `kernel_average` from the first ``rank`` terms of the expansion."""
    features = _features(scores, sigma, rank) * present.unsqueeze(2)
    sums = features @ (features.transpose(1, 2) @ values)
    weights = features @ features.sum(1).unsqueeze(2)
    return _divided(sums, weights, present)


def exact_average(scores: Tensor, values: Tensor, present: Tensor, sigma: float) -> Tensor:
    """Return the average of `kernel_average` from the full kernel, some rows at a time (again in the backward pass)."""
    rows = max(1, _CHUNK_ENTRIES // max(1, scores.numel()))
    parts = [
        checkpoint(_kernel_rows, part, scores, values, present, sigma, use_reentrant=False, preserve_rng_state=False)
        for part in scores.split(rows, dim=1)
    ]
    sums, weights = (torch.cat(pieces, dim=1) for pieces in zip(*parts, strict=True))
    return _divided(sums, weights, present)


def _kernel_rows(part: Tensor, scores: Tensor, values: Tensor, present: Tensor, sigma: float) -> tuple[Tensor, Tensor]:
    gaps = (part.unsqueeze(2) - scores.unsqueeze(1)) / sigma
    kernel = torch.exp(-gaps.square()) * present.unsqueeze(1)
    return kernel @ values, kernel.sum(2, keepdim=True)


def _divided(sums: Tensor, weights: Tensor, present: Tensor) -> Tensor:
    """Return sums / weights [clients, slots, width], 0 for padding; weights [clients, slots, 1]."""
    there = present.unsqueeze(2)
    return sums * (there / (weights + (1 - there)))


class _Features(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, sigma: float, rank: int) -> Tensor:
        ratios = scores.new_empty(*scores.shape, rank)
        orders = torch.arange(1, rank, dtype=scores.dtype, device=scores.device)
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


def _features(scores: Tensor, sigma: float, rank: int) -> Tensor:
    features: Tensor = _Features.apply(scores, sigma, rank)
    return features
