"""Louvain's communities of the bipartite graph (Blondel et al. 2008), packed whole into clusters."""

from __future__ import annotations

import networkx as nx
import numpy as np

from fedbench.errors import DataError


def louvain_clusters(
    users: np.ndarray, items: np.ndarray, shape: tuple[int, int], clusters: int, resolution: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cluster of each user and item; -1 for one without pairs.

    Communities are whole: the largest (by pairs inside) first, each goes to the cluster that has fewest pairs so far.
    Uses networkx: minutes for a million pairs.

    Args:
        users: int64[m], with ``items`` the training pairs.
        items: int64[m].
        shape: numbers of users and items.
        clusters: K.
        resolution: of the modularity.
        seed: Louvain's.

    Raises:
        DataError: Louvain finds fewer communities than clusters.
    """
    community = _communities(users, items + shape[0], sum(shape), resolution, seed)
    inside = np.bincount(community[users][community[users] == community[items + shape[0]]])
    if inside.size < clusters:
        raise DataError(
            f"{clusters} clients of whole communities",
            found=f"{inside.size} communities at resolution {resolution}",
            allowed=f"at least {clusters}",
            remedy="ask for fewer clients, or raise the scheme's resolution",
        )
    cluster = np.append(_packed(inside, clusters), -1)[community]
    return cluster[: shape[0]], cluster[shape[0] :]


def _communities(source: np.ndarray, target: np.ndarray, nodes: int, resolution: float, seed: int) -> np.ndarray:
    """Return int64[nodes], each node's community in order of their first nodes; -1 for nodes without edges."""
    graph = nx.Graph()
    graph.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    found = nx.community.louvain_communities(graph, resolution=resolution, seed=seed)
    community = np.full(nodes, -1, dtype=np.int64)
    for number, group in enumerate(sorted(found, key=min)):
        community[list(group)] = number
    return community


def _packed(sizes: np.ndarray, clusters: int) -> np.ndarray:
    """Return int64[len(sizes)], a cluster for each community: largest first, each to the emptiest cluster."""
    held, cluster = np.zeros(clusters, dtype=np.int64), np.empty(sizes.size, dtype=np.int64)
    empty = np.ones(clusters, dtype=np.int64)  # a cluster without communities comes before any that has one
    for community in np.argsort(-sizes, kind="stable"):
        cluster[community] = np.lexsort((np.arange(clusters), held, -empty))[0]
        held[cluster[community]] += sizes[community]
        empty[cluster[community]] = 0
    return cluster
