"""Mean maximum mean discrepancy of the clients' node features.

``MMD^2(a, b) = mean k(a, a) + mean k(b, b) - 2 mean k(a, b)`` over all pairs of nodes, a node with itself included (the
biased estimate, which is never negative). Kernels of all nodes with all nodes are summed up by client, some rows at a
time, so memory is rows x nodes whatever the number of clients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from fedbench.configuration.table_parts import FeatureTerm
from fedbench.errors import DataError

CELLS, DENSE_CELLS = 4_000_000, 60_000_000  # float64 entries: of a block of kernel rows, of features held dense
Features: TypeAlias = Any  # float64[n, d], np.ndarray or csr_matrix; SciPy has no types


def mean_discrepancy(sums: np.ndarray, sizes: np.ndarray, term: FeatureTerm) -> float:
    """Return the mean over what the term compares.

    Args:
        sums: float64[K, K], the kernel summed over pairs of nodes of two clients.
        sizes: float64[K], nodes of each client.
        term: pairs of clients or each client against all, and whether MMD is squared.
    """
    squares = np.maximum(COMPARED[term.against](sums, sizes), 0.0)
    return float((squares if term.squared else np.sqrt(squares)).mean()) if squares.size else 0.0


def _pairs(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    means = sums / np.outer(sizes, sizes)
    own = np.diag(means)
    return np.asarray((own[:, None] + own[None, :] - 2 * means)[np.triu_indices(len(sizes), k=1)])


def _whole(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    every = sizes.sum()
    across = sums.sum(axis=1) / (sizes * every)
    return np.asarray(np.diag(sums) / sizes**2 + sums.sum() / every**2 - 2 * across)


COMPARED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {"pairs": _pairs, "whole": _whole}


def linear_sums(x: sparse.csr_matrix, members: sparse.csr_matrix) -> np.ndarray:
    """Return the sums of ``<x, y>`` by pair of clients, float64[K, K]; MMD is the distance of the mean features."""
    totals = (members @ x.astype(np.float64)).toarray()
    return np.asarray(totals @ totals.T)


def kernel_sums(x: sparse.csr_matrix, members: sparse.csr_matrix, gamma: float) -> np.ndarray:
    """Return the sums of ``exp(-gamma |x - y|^2)`` by pair of clients, float64[K, K].

    Args:
        x: float32[n, d] features.
        members: [K, n] zeros and ones.
        gamma: see `gamma_of`.
    """
    used = np.flatnonzero(np.asarray(members.sum(axis=0)).ravel())
    x, members = _quick(x[used].astype(np.float64)), members[:, used].toarray()
    sums = np.zeros((len(members), len(members)))
    rows = max(1, CELLS // max(1, len(used)))
    for start in range(0, len(used), rows):
        # The kernel is symmetric: each block of rows meets itself and the nodes after it.
        kernel = np.exp(-gamma * squared_distances(x[start : start + rows], x[start:]))
        by_row = members[:, start : start + rows] @ kernel
        sums += by_row[:, :rows] @ members[:, start : start + rows].T
        across = by_row[:, rows:] @ members[:, start + rows :].T
        sums += across + across.T
    return sums


def gamma_of(x: sparse.csr_matrix, term: FeatureTerm, drawn: np.random.Generator) -> float:
    """Return gamma of ``exp(-gamma |x - y|^2)`` for a term's bandwidth.

    Args:
        x: [n, d] features.
        term: names the rule.
        drawn: draws the nodes whose distances give the median.

    Raises:
        DataError: the median distance is 0.
    """
    if term.bandwidth == "features":
        return 1.0 / x.shape[1]
    width = _median_distance(x, term.median_nodes, drawn) if term.bandwidth == "median" else float(term.bandwidth)
    if width <= 0:
        raise DataError("set an RBF kernel's bandwidth", found=f"{width:g}", remedy="state a positive `bandwidth`")
    return 1.0 / (2.0 * width**2)


def squared_distances(a: Features, b: Features) -> np.ndarray:
    """Return float64[rows of a, rows of b], the squared Euclidean distances."""
    product = a @ b.T
    inner = product.toarray() if sparse.issparse(product) else np.asarray(product)
    return np.maximum(_norms(a)[:, None] + _norms(b)[None, :] - 2.0 * inner, 0.0)


def _median_distance(x: sparse.csr_matrix, nodes: int, drawn: np.random.Generator) -> float:
    some = np.sort(drawn.permutation(x.shape[0])[:nodes])
    chosen = x[some].astype(np.float64)
    squares = squared_distances(chosen, chosen)[np.triu_indices(len(some), k=1)]
    return float(np.sqrt(np.median(squares)))


def _quick(x: sparse.csr_matrix) -> Features:
    """Return the features dense where memory allows: products of dense matrices are faster from a few percent on."""
    return x.toarray() if x.shape[0] * x.shape[1] <= DENSE_CELLS else x


def _norms(x: Features) -> np.ndarray:
    squares = x.multiply(x) if sparse.issparse(x) else x * x
    return np.asarray(squares.sum(axis=1)).ravel()
