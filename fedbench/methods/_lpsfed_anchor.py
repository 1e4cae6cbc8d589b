"""LPSFed's anchor: the lowest frequencies of a random user-item graph of the clients' mean size."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import pad

from fedbench import seeds as streams
from fedbench.kernels.bipartite import bipartite
from fedbench.kernels.krylov import largest_triplets
from fedbench.methods._lpsfed_settings import AnchorSettings

TOLERANCE = 0.01
"""Of the singular triplets' residual; eigenvalues of a graph of Gowalla's mean client are then within 0.0003."""
Sizes = tuple[int, int, int]
"""Users, items and pairs."""


def anchor_sizes(settings: AnchorSettings, clients: np.ndarray) -> Sizes:
    """Return users, items and pairs of the anchor, from those of all clients int64[K, 3]."""
    if settings.kind == "fixed":
        return settings.sizes
    users, items, pairs = (max(1, round(float(mean))) for mean in clients.mean(0))
    return users, items, min(pairs, users * items)


def random_graph(kind: str, sizes: Sizes, random: np.random.Generator) -> sparse.csr_matrix:
    """Return a random 0-1 matrix [users, items].

    ``gnmk`` and ``fixed``: exactly so many pairs, every such graph alike (networkx's ``gnmk_random_graph``).
    ``er``: every pair with the chance that gives as many in the mean.
    """
    users, items, pairs = sizes
    if kind == "er":
        pairs = int(random.binomial(users * items, pairs / (users * items)))
    chosen = np.sort(random.choice(users * items, pairs, replace=False, shuffle=False))
    start = np.searchsorted(chosen, items * np.arange(users + 1))
    return sparse.csr_matrix((np.ones(pairs, dtype=np.float32), chosen % items, start), shape=(users, items))


def anchor_frequencies(settings: AnchorSettings, sizes: Sizes, count: int, seed: int, round: int) -> Tensor:
    """Return the ``count`` lowest eigenvalues of the anchor's Laplacian, float64[count]; 1 where it has fewer.

    Drawn from a stream of the seed, and of the round unless the anchor stays.
    """
    of_round = [round] if settings.refresh == "round" else []
    random = streams.generator("lpsfed anchor", seed, *of_round)
    graph = random_graph(settings.kind, sizes, random)
    if not graph.nnz:
        return torch.ones(count, dtype=torch.float64)
    matrix = bipartite([graph], torch.float32, torch.device("cpu"))
    values = largest_triplets(matrix, count, random, tolerance=TOLERANCE).values.double()
    return (1 - pad(values, (0, count - len(values)))).clamp(min=0)
