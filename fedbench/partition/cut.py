"""Edges that a partition keeps and cuts."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fedbench.partition.store import Partition


def membership(partition: Partition, nodes: int) -> sparse.csr_matrix:
    """Return the int64 CSR matrix [clients, nodes] with 1 where the client has the node."""
    ones = np.ones(partition.node.size, dtype=np.int64)
    return sparse.csr_matrix((ones, (partition.client, partition.node)), (partition.clients, nodes))


def kept_per_client(partition: Partition, edges: np.ndarray, nodes: int) -> np.ndarray:
    """Return int64[clients], the undirected edges inside each client; ``edges`` int64[2, E] has both directions."""
    has = membership(partition, nodes)
    both = has[:, edges[0]].multiply(has[:, edges[1]])
    return np.asarray(both.sum(axis=1)).ravel() // 2


def missing_per_client(partition: Partition, edges: np.ndarray, nodes: int) -> np.ndarray:
    """Return int64[clients], the undirected edges with exactly one end in the client: its missing links."""
    has = membership(partition, nodes)
    touching = np.asarray(has[:, edges[0]].sum(axis=1)).ravel()  # directed edges that start in the client
    return touching - 2 * kept_per_client(partition, edges, nodes)


def kept_edges(partition: Partition, edges: np.ndarray, nodes: int) -> int:
    """Return how many undirected edges lie inside at least one client."""
    has = membership(partition, nodes)
    both = has[:, edges[0]].multiply(has[:, edges[1]])
    return int((np.asarray(both.sum(axis=0)).ravel() > 0).sum()) // 2
