"""A one-dimensional convolution over a sequence of node embeddings, and its exact Lipschitz constant."""

from __future__ import annotations

import math

import numpy as np


def conv1d(kernel: np.ndarray, sequence: np.ndarray) -> np.ndarray:
    """Return sum over tau = 1..B of W_tau x_(t + tau - ceil(B / 2)), zero beyond both ends (Theorem 3.2, eq. 4).

    Args:
        kernel: W, [B, width out, width in].
        sequence: [..., N, width in].
    """
    taps, length = kernel.shape[0], sequence.shape[-2]
    reach = math.ceil(taps / 2)
    padding = [(0, 0)] * (sequence.ndim - 2) + [(reach - 1, taps - reach), (0, 0)]
    padded = np.pad(sequence, padding)
    shifted = (padded[..., tap : tap + length, :] @ kernel[tap].T for tap in range(taps))
    return np.sum(list(shifted), axis=0)


def exact_lipschitz(kernel: np.ndarray, length: int) -> float:
    """Return the least c with ||Conv(X) - Conv(Y)||_F <= c ||X - Y||_F for sequences of ``length``.

    The convolution is linear, so c is the largest singular value of its matrix [N width, N width].
    """
    size = length * kernel.shape[2]
    images = conv1d(kernel, np.eye(size).reshape(size, length, -1))
    return float(np.linalg.norm(images.reshape(size, -1), 2))


def printed_lipschitz(kernel: np.ndarray) -> float:
    """Return sqrt(sum over tau of ||W_tau||_2^2), the constant of the proof (eq. 31)."""
    return math.sqrt(sum(np.linalg.norm(tap, 2) ** 2 for tap in kernel))


def corrected_lipschitz(kernel: np.ndarray) -> float:
    """Return sqrt(B) times the printed constant: by Cauchy-Schwarz, (sum of B norms)^2 <= B (sum of squares)."""
    return math.sqrt(len(kernel)) * printed_lipschitz(kernel)
