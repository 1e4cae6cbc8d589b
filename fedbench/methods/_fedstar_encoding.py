"""FedStar's structure encodings: return probabilities of a random walk, and degrees (Tan et al., AAAI 2023, section 4).

All graphs of a client are one sparse matrix, so nothing loops over graphs.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fedbench.tasks.graph.arrays import ClientGraphs


def adjacency(client: ClientGraphs) -> sparse.csr_array:
    """Return A of all the client's graphs, block-diagonal, without the self-loops that the task adds."""
    size = len(client.start) - 1
    node = np.repeat(np.arange(size), np.diff(client.start))
    other = node != client.neighbours
    pairs = (node[other], client.neighbours[other])
    return sparse.csr_array((np.ones(int(other.sum())), pairs), shape=(size, size))


def return_probabilities(graph: sparse.csr_array, steps: int) -> np.ndarray:
    """Return [((A D^-1)^i)_vv for i = 1 .. steps], float64[n, steps]; zeros for a node without neighbours.

    S = D^-1/2 A D^-1/2 has the same diagonals, and as it is symmetric, that of S^(a + b) is the row sums of
    S^a * S^b (element by element): half the powers are enough.
    """
    degrees = graph.sum(axis=1)
    inverse = np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)
    step = sparse.diags_array(inverse) @ graph @ sparse.diags_array(inverse)
    low, high, columns = sparse.eye_array(len(degrees), format="csr"), step.tocsr(), []
    for i in range(1, steps + 1):
        if i > 1:
            low, high = (high, high) if i % 2 == 0 else (low, high @ step)
        columns.append((low * high).sum(axis=1))
    return np.stack(columns, axis=1)


def degree_classes(graph: sparse.csr_array, classes: int) -> np.ndarray:
    """Return the one-hot degree, clipped to 1 .. classes, float64[n, classes]."""
    degrees = graph.sum(axis=1).astype(np.int64)
    return np.eye(classes)[degrees.clip(1, classes) - 1]


def read_by_layer_1(graph: sparse.csr_array, encodings: np.ndarray) -> np.ndarray:
    """Return [(A + I) [T | 1] | S [T | 1]] of the ``encodings`` T [n, width], float64[n, 2 * (width + 1)].

    S = D^-1/2 (A + I) D^-1/2, D the row sums of A + I. Edges never leave a graph, so these are rows of any batch.
    """
    around = graph + sparse.eye_array(graph.shape[0], format="csr")
    inverse = sparse.diags_array(1 / np.sqrt(around.sum(axis=1)))
    encoded = np.hstack([encodings, np.ones((len(encodings), 1))])
    return np.hstack([around @ encoded, inverse @ (around @ (inverse @ encoded))])
