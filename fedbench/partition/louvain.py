"""FedSage's owners: Louvain communities (Blondel et al. 2008), cut, packed, and given some nodes of every class."""

from __future__ import annotations

import networkx as nx
import numpy as np

from fedbench.datasets.node import NodeDataset
from fedbench.errors import DataError
from fedbench.partition.kinds import LouvainScheme
from fedbench.partition.packing import cut_long, packed, with_every_class


def louvain_clients(dataset: NodeDataset, clients: int, scheme: LouvainScheme, seed: int) -> np.ndarray:
    """Return int64[n], each node's client.

    Args:
        dataset: the graph and its classes.
        clients: number of owners.
        scheme: resolution, delta and nodes per class.
        seed: Louvain's seed.

    Raises:
        DataError: too few nodes for so many owners, or too few of a class.
    """
    most = dataset.nodes // clients - scheme.delta
    if most < 1:
        raise DataError(
            f"{clients} owners of {dataset.name}",
            found=f"{dataset.nodes // clients} nodes an owner",
            allowed=f"more than {scheme.delta}, since communities are cut to {scheme.delta} nodes fewer",
            remedy="ask for fewer clients, or lower the scheme's delta",
        )
    groups = cut_long(communities(dataset, scheme.resolution, seed), most)
    client = np.empty(dataset.nodes, dtype=np.int64)
    for owner, nodes in enumerate(packed(groups, clients, scheme.delta)):
        client[nodes] = owner
    return with_every_class(client, dataset.y, clients, scheme.per_class)


def communities(dataset: NodeDataset, resolution: float, seed: int) -> list[np.ndarray]:
    """Return Louvain's communities, each int64[k] ascending, in order of their first nodes."""
    graph = nx.empty_graph(dataset.nodes)
    graph.add_edges_from(dataset.edges.T.tolist())
    found = nx.community.louvain_communities(graph, resolution=resolution, seed=seed)
    return sorted((np.array(sorted(group), dtype=np.int64) for group in found), key=lambda group: int(group[0]))
