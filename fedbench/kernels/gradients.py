"""Tensors whose gradients are longer than they would be: under plain gradient descent, a step size of their own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def with_gradient_times(values: Tensor, factor: Tensor) -> Tensor:
    """Return ``values`` [c, ...] unchanged; the gradient that reaches them is ``factor`` [c] times as long."""
    same: Tensor = _Scaled.apply(values, factor)
    return same


class _Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, factor: Tensor) -> Tensor:
        ctx.factor = factor.view(-1, *(1,) * (values.dim() - 1))
        return values.view_as(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return ctx.factor * gradients[0], None
