"""The clients of each scheme: who has which node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial as bound
from typing import Any

import numpy as np

from fedbench.datasets.node import NodeDataset
from fedbench.partition.controls import dirichlet_clients, random_clients
from fedbench.partition.kinds import (
    DirichletScheme,
    DrawnScheme,
    LouvainScheme,
    MetisScheme,
    OverlappingScheme,
    RandomScheme,
)
from fedbench.partition.louvain import louvain_clients
from fedbench.partition.metis import metis_clients
from fedbench.partition.name import PartitionName
from fedbench.partition.overlapping import overlapping_clients, parts_of
from fedbench.partition.split import drawn_split, per_client_split
from fedbench.seeds import generator, integer


def memberships(name: PartitionName, scheme: DrawnScheme, dataset: NodeDataset) -> tuple[np.ndarray, np.ndarray]:
    """Return int64[m] and int64[m], client and node of each membership, sorted by (client, node).

    Raises:
        DataError: the scheme can't make so many clients of this data set.
    """
    return CUTS[type(scheme)](name, scheme, dataset)


def by_client(client: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return client and node of each membership, sorted, where node i belongs to ``client[i]`` alone."""
    node = np.argsort(client, kind="stable")
    return client[node], node


def splits(
    name: PartitionName, scheme: DrawnScheme, dataset: NodeDataset, client: np.ndarray, node: np.ndarray
) -> np.ndarray:
    """Return int8[m], the split of each membership.

    A split of the whole graph depends on neither the scheme nor the number of clients.
    """
    draw = bound(generator, "split", dataset.name, name.seed)
    if scheme.split.scope == "client":
        return per_client_split(client, scheme.split, draw)
    return drawn_split(dataset.nodes, scheme.split, draw())[node]


def _metis(dataset: NodeDataset, parts: int, seed: int) -> np.ndarray:
    """Return int64[n], the METIS part of each node: the same cut whatever is made of it."""
    return metis_clients(dataset.edges, dataset.nodes, parts, integer("metis", dataset.name, parts, seed))


def _of_metis(name: PartitionName, _: MetisScheme, dataset: NodeDataset) -> tuple[np.ndarray, np.ndarray]:
    return by_client(_metis(dataset, name.clients, name.seed))


def _of_overlapping(
    name: PartitionName, scheme: OverlappingScheme, dataset: NodeDataset
) -> tuple[np.ndarray, np.ndarray]:
    part = _metis(dataset, parts_of(name.clients, scheme.draws), name.seed)
    return overlapping_clients(part, scheme, bound(generator, "overlap", dataset.name, name.clients, name.seed))


def _of_louvain(name: PartitionName, scheme: LouvainScheme, dataset: NodeDataset) -> tuple[np.ndarray, np.ndarray]:
    seed = integer("louvain", dataset.name, name.seed)
    return by_client(louvain_clients(dataset, name.clients, scheme, seed))


def _of_dirichlet(name: PartitionName, scheme: DirichletScheme, dataset: NodeDataset) -> tuple[np.ndarray, np.ndarray]:
    drawn = generator("dirichlet", dataset.name, name.clients, name.seed)
    return by_client(dirichlet_clients(dataset.y, name.clients, scheme, drawn))


def _of_random(name: PartitionName, _: RandomScheme, dataset: NodeDataset) -> tuple[np.ndarray, np.ndarray]:
    drawn = generator("random", dataset.name, name.clients, name.seed)
    return by_client(random_clients(dataset.nodes, name.clients, drawn))


CUTS: dict[type[DrawnScheme], Callable[[PartitionName, Any, NodeDataset], tuple[np.ndarray, np.ndarray]]] = {
    MetisScheme: _of_metis,
    OverlappingScheme: _of_overlapping,
    LouvainScheme: _of_louvain,
    DirichletScheme: _of_dirichlet,
    RandomScheme: _of_random,
}
