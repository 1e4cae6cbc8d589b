"""Kernel averages and sorted embeddings for Theorem 3.2; rows are kept in score order throughout."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.gaussian import exact_average
from fedbench.seeds import generator
from fedbench.theorems._row import norm

Form = Callable[[Tensor, Tensor, Tensor, float], Tensor]


def draw(nodes: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return embeddings h [nodes, width] in score order, and their scores <h_i / max_j ||h_j||, a>, a ~ N(0, I)."""
    random = generator("theorems", "fedaux sorting", nodes)
    h, a = random.standard_normal((nodes, width)), random.standard_normal(width)
    scores = h @ a / np.linalg.norm(h, axis=1).max()
    order = np.argsort(scores)
    return h[order], scores[order]


def plain_average(scores: np.ndarray, h: np.ndarray, sigma: float) -> np.ndarray:
    """Return z of eq. 6 from the full N x N kernel."""
    kernel = np.exp(-(((scores[:, None] - scores[None, :]) / sigma) ** 2))
    return kernel @ h / kernel.sum(1, keepdims=True)


def average(scores: np.ndarray, h: np.ndarray, sigma: float, form: Form = exact_average) -> np.ndarray:
    """Return z of eq. 6 by a form of `fedbench.kernels.gaussian`: the exact one, since sigma is small here."""
    present = torch.ones(1, len(scores), dtype=torch.float64)
    return form(torch.from_numpy(scores)[None], torch.from_numpy(h)[None], present, sigma)[0].numpy()


def distance_bound(scores: np.ndarray, h: np.ndarray, sigma: float) -> float:
    """Return what the proof's lemma C.6 gives for ||Z - H||_F.

    With D_i the gap from node i to the nearest score, every weight but node i's own is at most
    exp(-D_i^2 / sigma^2), so ||z_i - h_i|| <= (N - 1) exp(-D_i^2 / sigma^2) max_j ||h_j - h_i||.
    """
    gaps = np.diff(scores, prepend=-np.inf, append=np.inf)
    nearest = np.minimum(gaps[:-1], gaps[1:])
    furthest = np.linalg.norm(h[:, None] - h[None], axis=2).max(1)
    return norm((len(h) - 1) * np.exp(-((nearest / sigma) ** 2)) * furthest)
