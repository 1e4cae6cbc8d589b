"""Spectral co-clustering of a bipartite graph, from its own matrix: no Laplacian of users plus items is ever built.

The symmetric normalised Laplacian of the bipartite graph has the eigenvalues 1 - s and 1 + s, s the singular values of
D_u^(-1/2) R D_i^(-1/2), and the eigenvectors of its low end are the stacked singular vectors.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from fedbench.errors import DataError
from fedbench.partition.rec.kinds import CoClusterScheme
from fedbench.partition.rec.svd import truncated_svd

STARTS = 10  # of k-means


def normalised(matrix: sparse.csr_matrix, tau: float) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """Return D_u^(-1/2) R D_i^(-1/2), and the diagonals of both factors; a node without pairs has 0 there.

    Args:
        matrix: R, [users, items].
        tau: tau times the mean degree of its side is added to each degree.
    """
    user, item = (_inverse_root(np.asarray(matrix.sum(axis=axis)).ravel(), tau) for axis in (1, 0))
    return sparse.csr_matrix(sparse.diags(user) @ matrix @ sparse.diags(item)), user, item


def _inverse_root(degree: np.ndarray, tau: float) -> np.ndarray:
    raised = degree + tau * degree.mean()
    return np.where(degree > 0, np.maximum(raised, 1e-12) ** -0.5, 0.0)


def co_clusters(
    matrix: sparse.csr_matrix, clusters: int, scheme: CoClusterScheme, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return int64[users] and int64[items], the cluster of each; -1 for a node without pairs.

    Args:
        matrix: float CSR [users, items] with 1 for each training pair.
        clusters: K.
        scheme: method and regularisation.
        draw: for the singular vectors and k-means.

    Raises:
        DataError: fewer different nodes than clusters.
    """
    scaled, user, item = normalised(matrix, scheme.regularise)
    vectors = clusters if scheme.vectors == "clusters" else 1 + math.ceil(math.log2(clusters))
    svd = truncated_svd(scaled, vectors, draw)
    stacked, root = np.concatenate([svd.left, svd.right]), np.concatenate([user, item])
    points = _EMBEDDINGS[scheme.method](stacked, root)
    placed = root > 0
    label = np.full(placed.size, -1, dtype=np.int64)
    label[placed] = _k_means(points[placed], clusters, draw)
    return label[: user.size], label[user.size :]


def _row_normalised(stacked: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return [nodes, k]: the rows of the stacked singular vectors, each of length 1 (Ng, Jordan, Weiss 2001)."""
    return np.asarray(stacked / np.maximum(np.linalg.norm(stacked, axis=1, keepdims=True), 1e-12))


def _dhillon(stacked: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return [nodes, k - 1]: Dhillon 2001, equation 12; the first vector, which tells nothing apart, is left out."""
    return np.asarray(root[:, None] * stacked[:, 1:])


_EMBEDDINGS = {"rownorm": _row_normalised, "dhillon": _dhillon}


def _k_means(points: np.ndarray, clusters: int, draw: np.random.Generator) -> np.ndarray:
    different = np.unique(points.round(9), axis=0).shape[0] if points.shape[0] <= 10 * clusters else clusters
    if different < clusters:
        raise DataError(
            f"{clusters} co-clusters",
            found=f"{different} different nodes in the embedding",
            allowed=f"at least {clusters}",
            remedy="ask for fewer clients",
        )
    means = KMeans(clusters, n_init=STARTS, random_state=int(draw.integers(2**31)))
    return np.asarray(means.fit(points).labels_, dtype=np.int64)
