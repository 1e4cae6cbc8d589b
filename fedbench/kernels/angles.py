"""Angles of scores, with slopes that stay finite at both ends."""

from __future__ import annotations

import math

import torch
from torch import Tensor

_WITHIN = 1 - 1e-7  # of an arccosine's argument, whose slope is infinite at +-1


def angle_of_logit(logit: Tensor) -> Tensor:
    """Return arccos(tanh f), in (0, pi), falling in f.

    arccos(tanh f) = pi/2 - 2 arctan(tanh(f / 2)) (the Gudermannian function). Its slope -1 / cosh f is nowhere
    infinite, while that of the arccosine is, wherever tanh rounds to +-1.
    """
    return math.pi / 2 - 2 * torch.atan(torch.tanh(0.5 * logit))


def angle_of_cosine(cosine: Tensor) -> Tensor:
    """Return arccos of what lies in [-1, 1] up to rounding; at most 4.5e-4 off, at its ends only."""
    return torch.arccos(cosine.clamp(-_WITHIN, _WITHIN))
