"""Inner products of chosen rows of two tables. Autograd's own gradient of a gather is slow on a CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def pair_products(users: Tensor, items: Tensor, user: Tensor, item: Tensor) -> Tensor:
    """Return users[user] . items[item], [m, k].

    Args:
        users: [a, d].
        items: [b, d].
        user: int64[m].
        item: int64[m, k].
    """
    product: Tensor = _Products.apply(users, items, user, item)
    return product


class _Products(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, users: Tensor, items: Tensor, user: Tensor, item: Tensor) -> Tensor:
        ctx.save_for_backward(users, items, user, item)
        return (users.index_select(0, user).unsqueeze(1) * _gathered(items, item)).sum(2)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        users, items, user, item = ctx.saved_tensors
        weight = gradients[0].unsqueeze(2)
        to_users = (weight * _gathered(items, item)).sum(1)
        to_items = (weight * users.index_select(0, user).unsqueeze(1)).flatten(0, 1)
        grown = torch.zeros_like(users).index_add_(0, user, to_users)
        return grown, torch.zeros_like(items).index_add_(0, item.flatten(), to_items), None, None


def _gathered(items: Tensor, item: Tensor) -> Tensor:
    return items.index_select(0, item.flatten()).view(*item.shape, -1)
