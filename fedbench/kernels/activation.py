"""Bias, ReLU and dropout as one differentiable step over a packed block."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class _BiasReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor, keep: Tensor | None, scale: float) -> Tensor:
        out = torch.add(x, bias.unsqueeze(1)).relu_()
        if keep is not None:
            out.mul_(keep).mul_(scale)
        ctx.scale = scale
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (out,) = ctx.saved_tensors
        gradient = torch.ops.aten.threshold_backward(gradients[0], out, 0.0)
        if ctx.scale != 1.0:
            gradient.mul_(ctx.scale)
        return gradient, gradient.sum(1), None, None


def bias_relu_dropout(x: Tensor, bias: Tensor, keep: Tensor | None = None, scale: float = 1.0) -> Tensor:
    """Return ``relu(x + bias) * keep * scale``.

    Args:
        x: [blocks, nodes, width].
        bias: [blocks, width].
        keep: 0/1 mask of ``x``'s shape (uint8), or None to keep all.
        scale: 1 / (1 - dropout probability).
    """
    result: Tensor = _BiasReluDropout.apply(x, bias, keep, scale)
    return result
