"""Recall@K and NDCG@K of ranked lists."""

from __future__ import annotations

import numpy as np

from fedbench.tasks.rec.query import Lists


def hits(ranked: np.ndarray, wanted: Lists) -> np.ndarray:
    """Return bool[q, K]: which entries of the ranked lists int64[q, K] are looked for."""
    return np.asarray(places(ranked, wanted) >= 0)


def places(ranked: np.ndarray, wanted: Lists) -> np.ndarray:
    """Return int64[q, K]: where ``wanted.items`` has each entry of the ranked lists int64[q, K]; -1: not looked for."""
    users = np.arange(len(ranked))
    width = int(max(ranked.max(initial=0), wanted.items.max(initial=0))) + 1
    known = np.repeat(users, wanted.lengths) * width + wanted.items
    asked = users[:, None] * width + ranked
    if not known.size:
        return np.full(ranked.shape, -1)
    place = np.minimum(np.searchsorted(known, asked), known.size - 1)
    return np.where(known[place] == asked, place, -1)


def recall(found: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return hits / items looked for, of each user; NaN for a user without any."""
    with np.errstate(invalid="ignore"):
        return np.asarray(found.sum(1) / counts)


def ndcg(found: np.ndarray, counts: np.ndarray, cutoff: int) -> np.ndarray:
    """Return DCG over that of the best possible list, of each user; NaN for a user without an item looked for.

    The best list has min(items looked for, K) hits in front (LightGCN's evaluation). NGCF's released code sorts the
    hits that were found instead, which gives figures far too high.

    Args:
        found: bool[q, L], L <= K where a client has fewer candidates.
        counts: items looked for, of each user.
        cutoff: K.
    """
    discount = 1.0 / np.log2(np.arange(2, cutoff + 2))
    ideal = np.concatenate([[0.0], np.cumsum(discount)])[np.minimum(counts, cutoff)]
    with np.errstate(invalid="ignore"):
        return np.asarray((found * discount[: found.shape[1]]).sum(1) / ideal)
