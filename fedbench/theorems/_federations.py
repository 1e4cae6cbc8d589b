"""Clients and mixing matrices for Theorem 3.3, ordinary and adversarial."""

from __future__ import annotations

import numpy as np
import torch

from fedbench.methods.weights import cosine, similarity_mixing
from fedbench.theorems._quadratics import Clients


def clients(random: np.random.Generator, count: int, width: int, mu: float, apart: float, zeta: float) -> Clients:
    """Return clients with curvatures from ``mu`` to L = 1 in random directions and optima ``apart`` x N(0, I)."""
    curvatures = np.stack([_curvature(random, width, mu) for _ in range(count)])
    return Clients(curvatures, apart * random.standard_normal((count, width)), zeta)


def _curvature(random: np.random.Generator, width: int, mu: float) -> np.ndarray:
    axes = np.linalg.qr(random.standard_normal((width, width)))[0]
    return np.asarray(axes * np.linspace(mu, 1.0, width) @ axes.T)


def blend(count: int, rho: float) -> np.ndarray:
    """Return (1 - rho) 11^T / K + rho I: its distance from the average is exactly ``rho``."""
    return (1 - rho) / count + rho * np.eye(count)


def leaning(count: int, rho: float) -> np.ndarray:
    """Return the matrix whose rows all lean to the first client, at distance ``rho`` (up to sqrt(K - 1))."""
    lean = np.full(count, -1.0)
    lean[0] = count - 1.0
    return np.asarray(1 / count + rho * np.tile(lean / np.linalg.norm(lean) / np.sqrt(count), (count, 1)))


def drawn(random: np.random.Generator, count: int, rho: float) -> np.ndarray:
    """Return a row-stochastic matrix, rows from a flat Dirichlet, pulled to the average until at most ``rho`` away."""
    mixing = random.dirichlet(np.ones(count), size=count)
    far = float(np.linalg.norm(mixing - 1 / count, 2))
    return np.asarray(1 / count + min(1.0, rho / far) * (mixing - 1 / count))


def similarity(vectors: np.ndarray, alpha: float) -> np.ndarray:
    """Return FedAux's own matrix (eq. 7), softmax of alpha x cosine, for APVs [K, d]."""
    return np.asarray(similarity_mixing(cosine(torch.from_numpy(vectors)[None]), alpha)[0].numpy())
