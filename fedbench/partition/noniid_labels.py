"""Mean Jensen-Shannon divergence of the clients' label distributions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedbench.configuration.table_parts import LabelTerm

BASES = {"2": 2.0, "e": float(np.e)}


def mean_divergence(class_counts: np.ndarray, term: LabelTerm) -> float:
    """Return the mean of ``JSD(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2`` over what the term compares.

    Args:
        class_counts: int64[K, C], nodes of each class; every client has at least one node.
        term: pairs of clients or each client against all, the logarithm's base, and whether the root is taken.
    """
    first, second = COMPARED[term.against](class_counts)
    mixed = entropy((first + second) / 2)
    divergence = np.maximum(mixed - (entropy(first) + entropy(second)) / 2, 0.0) / np.log(BASES[term.base])
    values = np.sqrt(divergence) if term.root else divergence
    return float(values.mean()) if values.size else 0.0


def _pairs(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    shares = _shares(counts)
    first, second = np.triu_indices(len(shares), k=1)
    return shares[first], shares[second]


def _whole(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _shares(counts), np.repeat(_shares(counts.sum(axis=0, keepdims=True)), len(counts), axis=0)


def _shares(counts: np.ndarray) -> np.ndarray:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


COMPARED: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {"pairs": _pairs, "whole": _whole}


def entropy(shares: np.ndarray) -> np.ndarray:
    """Return float64[rows], each row's entropy in nats; 0 log 0 is 0."""
    return np.asarray(0.0 - (shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1))
