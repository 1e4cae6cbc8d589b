"""Inner products of chosen rows of two tables.

These are PyTorch's EmbeddingBag kernels on the tables themselves: no chosen row is copied, so a step needs as many
numbers as pairs, not pairs times width. Autograd's own gradient of a gather is slow on a CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

_SHORT = np.iinfo(np.uint16).max  # numpy sorts numbers of 16 bits by their digits, several times as fast as others


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
        row, column = user.repeat_interleave(item.shape[1]), item.flatten()
        found: Tensor = torch.ops.aten._embedding_bag_per_sample_weights_backward(
            users.contiguous(), items.contiguous(), column, column, row, 0
        )  # a bag's gradient of its weights is this product; the fourth argument, the bags' starts, is not read
        return found.view(item.shape)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        users, items, user, item = ctx.saved_tensors
        asked, weight = ctx.needs_input_grad, gradients[0].flatten()
        to_users = _to_users(items, user, item, weight, len(users)) if asked[0] else None
        to_items = _to_items(users, user, item, weight, len(items)) if asked[1] else None
        return to_users, to_items, None, None


def _to_users(items: Tensor, user: Tensor, item: Tensor, weight: Tensor, count: int) -> Tensor:
    """Return the gradient of ``count`` users' rows; a user's pairs lie side by side, so only pairs are sorted."""
    order, width = _order(user, count), item.shape[1]
    places = (order.unsqueeze(1) * width + torch.arange(width, device=user.device)).flatten()
    chosen, starts = item.index_select(0, order).flatten(), _starts(user, count) * width
    return _sums(items, chosen, weight.index_select(0, places), starts)


def _to_items(users: Tensor, user: Tensor, item: Tensor, weight: Tensor, count: int) -> Tensor:
    """Return the gradient of ``count`` items' rows."""
    column = item.flatten()
    order = _order(column, count)
    chosen = user.repeat_interleave(item.shape[1]).index_select(0, order)
    return _sums(users, chosen, weight.index_select(0, order), _starts(column, count))


def _sums(table: Tensor, chosen: Tensor, weight: Tensor, starts: Tensor) -> Tensor:
    """Return the weighted sums of a table's chosen rows, one of every run that starts at ``starts``."""
    summed: Tensor = torch.embedding_bag(table.contiguous(), chosen, starts, False, 0, False, weight, True)[0]
    return summed


def _order(keys: Tensor, count: int) -> Tensor:
    """Return a stable order of keys below ``count``."""
    if keys.device.type != "cpu" or count > _SHORT:
        return torch.argsort(keys, stable=True)
    return torch.from_numpy(np.argsort(keys.numpy().astype(np.uint16), kind="stable"))


def _starts(keys: Tensor, count: int) -> Tensor:
    """Return where each key's run starts once they are sorted, int64[count + 1]."""
    return torch.nn.functional.pad(torch.bincount(keys, minlength=count).cumsum(0), (1, 0))
