"""The largest entries of each row, exactly, without sorting whole rows.

The k largest entries of a row lie in the k blocks whose maxima are largest: whatever lies in another block is no larger
than k maxima. So one pass takes the maxima of blocks of `BLOCK` columns, and only k blocks are looked into.
"""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 32


def largest(scores: Tensor, count: int) -> Tensor:
    """Return the columns of each row's ``count`` largest entries, largest first, int64 [rows, count].

    Which of equal entries come first is undefined, as in ``torch.topk``.

    Args:
        scores: [rows, columns]; at least one column.
        count: at most the number of columns.
    """
    columns = scores.shape[1]
    whole = columns // BLOCK * BLOCK
    if whole <= 2 * count * BLOCK:
        return scores.topk(count, dim=1).indices
    maxima = scores[:, :whole].unflatten(1, (-1, BLOCK)).amax(2)
    blocks = maxima.topk(count, dim=1, sorted=False).indices
    inside = (blocks.unsqueeze(2) * BLOCK + torch.arange(BLOCK, device=scores.device)).flatten(1)
    rest = torch.arange(whole, columns, device=scores.device).expand(len(scores), -1)
    candidates = torch.cat([inside, rest], dim=1)
    best = scores.gather(1, candidates).topk(count, dim=1).indices
    return candidates.gather(1, best)
