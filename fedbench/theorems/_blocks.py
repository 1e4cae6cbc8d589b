"""Random user-item graphs with communities, and the low end of their spectra."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Blocks:
    """As many users as items, in equal communities; a pair is taken with a chance that depends on both communities.

    ``chances`` [B, B], all times ``density``.
    """

    chances: np.ndarray
    density: float = 1.0

    def draw(self, size: int, random: np.random.Generator) -> np.ndarray:
        """Return a 0-1 matrix [size, size]."""
        community = np.arange(size) * len(self.chances) // size
        chance = self.density * self.chances[np.ix_(community, community)]
        return np.asarray(random.random((size, size)) < chance, dtype=float)

    def limit(self, count: int) -> np.ndarray:
        """Return the ``count`` lowest eigenvalues of the expected graph's normalised Laplacian: 1 beyond the B-th."""
        return lowest(self.chances, count)


def uneven(blocks: int, between: float, least: float = 0.6) -> np.ndarray:
    """Return chances that fall from 1 in the first community to ``least`` in the last, and are ``between`` elsewhere.

    No two communities are alike, so that no two eigenvalues of the limit are.
    """
    return np.full((blocks, blocks), between) + np.diag(np.linspace(1.0, least, blocks) - between)


def lowest(taken: np.ndarray, count: int) -> np.ndarray:
    """Return the ``count`` lowest eigenvalues of I - D^(-1/2) A D^(-1/2), 1 where there are fewer below it.

    They are 1 - s with s the singular values of D_u^(-1/2) R D_i^(-1/2).
    """
    scaled = taken / np.sqrt(np.outer(taken.sum(1), taken.sum(0)).clip(1e-300))
    squares = np.linalg.eigvalsh(scaled @ scaled.T)[::-1][:count].clip(0, 1)
    return np.pad(1 - np.sqrt(squares), (0, count - len(squares)), constant_values=1.0)


def divergence(first: np.ndarray, second: np.ndarray, epsilon: float = 1e-12) -> float:
    """Return KL of two spectra, each over its sum; ``epsilon`` is added to both, since the first eigenvalue is 0."""
    p, q = (np.maximum(k, 0) + epsilon for k in (first, second))
    p, q = p / p.sum(), q / q.sum()
    return float(p @ np.log(p / q))
