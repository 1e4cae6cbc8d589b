"""Federated gradient descent on quadratic clients with exact expectations, and the bound of FedAux's Theorem 3.3.

Client k has L_k(x) = 1/2 (x - c_k)^T H_k (x - c_k), smallest value 0; its stochastic gradient is the gradient plus
noise with mean 0 and E||noise||^2 = zeta^2. Everything is linear, so mean and covariance of all clients' parameters
follow exact recursions and nothing is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag


@dataclass(frozen=True)
class Clients:
    """Quadratic clients: ``curvatures`` H [K, d, d], ``optima`` c [K, d], gradient noise ``zeta``."""

    curvatures: np.ndarray
    optima: np.ndarray
    zeta: float = 0.0

    @property
    def mu(self) -> float:
        """Return the smallest curvature of any client (each is mu-PL)."""
        return float(np.linalg.eigvalsh(self.curvatures).min())

    @property
    def smoothness(self) -> float:
        """Return the largest curvature of any client, the paper's L."""
        return float(np.linalg.eigvalsh(self.curvatures).max())


@dataclass(frozen=True)
class Plan:
    """Mixing matrix Omega [K, K], learning rate eta, local steps Q, rounds T and the common start [d]."""

    mixing: np.ndarray
    eta: float
    local_steps: int
    rounds: int
    start: np.ndarray


def expected_gaps(clients: Clients, plan: Plan) -> np.ndarray:
    """Return E[L(Psi^t)] - L* = (1/K) sum_k E[L_k(Psi_k^t)] after each mixing, t = 0..T, [T + 1]."""
    count, width = clients.optima.shape
    curvature, optima = block_diag(*clients.curvatures), clients.optima.ravel()
    step, mix = np.eye(count * width) - plan.eta * curvature, np.kron(plan.mixing, np.eye(width))
    noise = plan.eta**2 * clients.zeta**2 / width * np.eye(count * width)
    away, spread = np.tile(plan.start, count) - optima, np.zeros_like(step)
    gaps = [_mean_loss(curvature, away, spread, count)]
    for _ in range(plan.rounds):
        for _ in range(plan.local_steps):
            away, spread = step @ away, step @ spread @ step + noise
        away, spread = mix @ (away + optima) - optima, mix @ spread @ mix.T
        gaps.append(_mean_loss(curvature, away, spread, count))
    return np.array(gaps)


def _mean_loss(curvature: np.ndarray, away: np.ndarray, spread: np.ndarray, count: int) -> float:
    """Return (1 / 2K) sum_k E[(x_k - c_k)^T H_k (x_k - c_k)] from mean and covariance of x - c."""
    return float(away @ curvature @ away + np.sum(curvature * spread)) / (2 * count)


def mixing_distance(mixing: np.ndarray) -> float:
    """Return rho, the spectral norm of Omega - 11^T / K."""
    return float(np.linalg.norm(mixing - 1 / len(mixing), 2))


def printed_bound(clients: Clients, plan: Plan, first_gap: float) -> np.ndarray:
    """Return eq. 12 for t = 0..T:

    (1 - eta mu)^(Q t) gap_0 + eta L zeta^2 / (2 mu) + 2 eta L rho^2 / (mu (1 - rho)^2).
    """
    rho, scale = mixing_distance(plan.mixing), plan.eta * clients.smoothness / clients.mu
    decay = (1 - plan.eta * clients.mu) ** (plan.local_steps * np.arange(plan.rounds + 1))
    return decay * first_gap + scale * clients.zeta**2 / 2 + 2 * scale * rho**2 / (1 - rho) ** 2
