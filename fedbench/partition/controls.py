"""Clients that ignore the graph: label-Dirichlet and random. Controls for what a cut along the graph does."""

from __future__ import annotations

import numpy as np

from fedbench.errors import DataError
from fedbench.partition.kinds import DirichletScheme

DRAWS = 1000


def random_clients(nodes: int, clients: int, draw: np.random.Generator) -> np.ndarray:
    """Return int64[nodes], each node's client; sizes differ by one at most."""
    return draw.permutation(np.arange(nodes) % clients)


def dirichlet_clients(y: np.ndarray, clients: int, scheme: DirichletScheme, draw: np.random.Generator) -> np.ndarray:
    """Return int64[n], each node's client.

    Each class's nodes are dealt, in random order, by shares from a symmetric Dirichlet distribution (Hsu, Qi, Brown
    2019, with the classes' shares drawn over clients as in NIID-Bench, Li et al. 2022, which also draws again until the
    smallest client is large enough).

    Raises:
        DataError: too few nodes for so many clients, or no draw gave every client enough.
    """
    if y.size < clients * scheme.smallest:
        raise _refused(y.size, clients, scheme, f"{y.size:,} nodes")
    for _ in range(DRAWS):
        client = _dealt(y, clients, scheme.alpha, draw)
        if np.bincount(client, minlength=clients).min() >= scheme.smallest:
            return client
    raise _refused(y.size, clients, scheme, f"a client of fewer than {scheme.smallest} in each of {DRAWS:,} draws")


def _dealt(y: np.ndarray, clients: int, alpha: float, draw: np.random.Generator) -> np.ndarray:
    client = np.empty(y.size, dtype=np.int64)
    for label in np.unique(y):
        nodes = draw.permutation(np.flatnonzero(y == label))
        bounds = np.cumsum(draw.dirichlet(np.full(clients, alpha)))[:-1] * nodes.size
        client[nodes] = np.searchsorted(np.round(bounds), np.arange(nodes.size), side="right")
    return client


def _refused(nodes: int, clients: int, scheme: DirichletScheme, found: str) -> DataError:
    return DataError(
        f"{clients} clients by label-Dirichlet (alpha {scheme.alpha}) of {nodes:,} nodes",
        found=found,
        allowed=f"at least {scheme.smallest} nodes in every client",
        remedy="ask for fewer clients, raise the scheme's alpha, or lower its smallest",
    )
