"""Gaussian-kernel averages over one-dimensional scores without a nodes x nodes matrix.

k(s, t) = exp(-(s - t)^2 / sigma^2) is written as sum_n f_n(s) f_n(t) with few terms: by a power series where scores are
narrow against sigma (`fedbench.kernels.series`), by frequencies where they are wide (`fedbench.kernels.frequencies`);
each states its error. Cost: nodes x terms instead of nodes x nodes. Where even that is no gain the full kernel is taken
in chunks of rows.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from fedbench.kernels.frequencies import frequencies_for, frequency_features
from fedbench.kernels.series import series_features, terms_for

_TOLERANCE = {torch.float32: 1e-8, torch.float64: 1e-15}
_LARGEST_EXPONENT = 50.0  # beyond it exp(-s^2 / sigma^2) leaves float32's range
_CHUNK_ENTRIES = 1 << 24  # kernel entries alive at once in the exact form


def kernel_average(scores: Tensor, values: Tensor, present: Tensor, sigma: float, bound: float | None = None) -> Tensor:
    """Return z_i = sum_j k(s_i, s_j) v_j / sum_j k(s_i, s_j) over the nodes of each packed client.

    Differentiable in ``scores`` and ``values``.

    Args:
        scores: [clients, slots].
        values: [clients, slots, width].
        present: [clients, slots], 1 for a node and 0 for padding (whose z is 0).
        sigma: kernel width.
        bound: a bound on |scores| if one is known, for example 1 for cosines; measured otherwise.
    """
    limit = float(scores.detach().abs().max()) if bound is None else bound
    features = _features(scores, sigma, limit)
    if features is None:
        return exact_average(scores, values, present, sigma)
    return low_rank_average(features, values, present)


def _features(scores: Tensor, sigma: float, limit: float) -> Tensor | None:
    """Return the smaller of both sets of features [clients, slots, terms], or None where neither is a gain."""
    tolerance = _TOLERANCE[scores.dtype]
    frequencies, spacing = frequencies_for(2 * limit, sigma, tolerance)
    narrow = (limit / sigma) ** 2 <= _LARGEST_EXPONENT
    terms = terms_for(limit, sigma, tolerance) if narrow else scores.shape[1]
    if 2 * min(terms, 2 * frequencies + 1) > scores.shape[1]:
        return None
    if terms <= 2 * frequencies + 1:
        return series_features(scores, sigma, terms)
    return frequency_features(scores, sigma, frequencies, spacing)


def low_rank_average(features: Tensor, values: Tensor, present: Tensor) -> Tensor:
    """Return `kernel_average` from features [clients, slots, terms] whose inner products are the kernel."""
    features = features * present.unsqueeze(2)
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
