"""Walks on the unit sphere for Theorem 3.1: the linear rule a <- normalise(a + step C a), and true gradient descent."""

from __future__ import annotations

import numpy as np
import torch

from fedbench.kernels.gaussian import exact_average


def covariance(h: np.ndarray) -> np.ndarray:
    """Return C = (1/N) sum_i h_i h_i^T, [width, width]."""
    return np.asarray(h.T @ h / len(h))


def follow(matrix: np.ndarray, step: float, start: np.ndarray, steps: int) -> np.ndarray:
    """Return a after ``steps`` of a <- normalise(a + step matrix a); eq. 10 as printed has step = -eta."""
    a = start
    for _ in range(steps):
        a = a + step * (matrix @ a)
        a = a / np.linalg.norm(a)
    return a


def alignment(a: np.ndarray, matrix: np.ndarray, place: int) -> float:
    """Return |cos| between ``a`` and an eigenvector; place -1 is the largest eigenvalue's, 0 the smallest's."""
    return float(abs(a @ np.linalg.eigh(matrix)[1][:, place]) / np.linalg.norm(a))


def loss_gradient(h: np.ndarray, a: np.ndarray, sigma: float, sign: float = 1.0) -> np.ndarray:
    """Return dL/da by automatic differentiation for L = sign/(2N) sum_i ||z_i||^2 and scores s_i = <h_i, a>.

    This loss meets the proof's assumption C.2 exactly: dL/dz_i is linear in z_i, with matrix W = sign I.
    """
    values, apv = torch.from_numpy(h)[None], torch.tensor(a, requires_grad=True)
    z = exact_average(values @ apv, values, torch.ones(1, len(h), dtype=torch.float64), sigma)
    loss = sign * z.square().sum() / (2 * len(h))
    return np.asarray(torch.autograd.grad(loss, apv)[0].numpy())


def descend(h: np.ndarray, start: np.ndarray, sigma: float, sign: float, rate: float, steps: int) -> np.ndarray:
    """Return a after ``steps`` of a <- normalise(a - rate dL/da)."""
    a = start
    for _ in range(steps):
        a = a - rate * loss_gradient(h, a, sigma, sign)
        a = a / np.linalg.norm(a)
    return a
