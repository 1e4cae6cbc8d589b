"""Colour refinement (one-dimensional Weisfeiler-Leman) with 64-bit hashes of content, never of position."""

from __future__ import annotations

import numpy as np
from scipy import sparse

Colours = np.ndarray  # uint64[n]


def mixed(values: np.ndarray) -> np.ndarray:
    """Return uint64 values scrambled by the finaliser of SplitMix64 (Steele, Lea, Flood 2014); a bijection."""
    values = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def content_colours(x: sparse.csr_matrix, y: np.ndarray) -> Colours:
    """Return a hash of each node's own content: its features (float32 CSR [n, d]) and its class (int64[n])."""
    cell = mixed(mixed(x.indices) ^ x.data.view(np.uint32))
    return mixed(_sums(cell, x.indptr) + mixed(y))


def refined(colours: Colours, indptr: np.ndarray, indices: np.ndarray) -> Colours:
    """Split colours by the colours of the neighbours until no class splits.

    Nodes of equal colour then have equally many neighbours of each colour. The number of rounds depends on the
    graph alone, so the colours do too.

    Args:
        colours: uint64[n].
        indptr: int[n + 1], with ``indices`` the neighbours of each node.
        indices: int[E].
    """
    classes = np.unique(colours).size
    while True:
        finer = mixed(colours ^ mixed(_sums(mixed(colours)[indices], indptr)))
        found = np.unique(finer).size
        if found == classes:
            return colours
        colours, classes = finer, found


def _sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Return the sum (modulo 2**64) of each row's values: a hash of a multiset, whatever its order."""
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    return total[indptr[1:]] - total[indptr[:-1]]
