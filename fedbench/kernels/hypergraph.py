"""The lowest frequencies of a client's two hypergraphs (Yu and Qin, ICML 2020).

With items as the hyperedges of users, L_u = I - D_u^(-1/2) H D_i^(-1) H^T D_u^(-1/2) = I - R R^T, R the normalised
training pairs; with users as the hyperedges of items, L_i = I - R^T R. So the lowest frequencies of both are 1 - s^2,
s the largest singular values of R, and one decomposition gives both bases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import pad

from fedbench import seeds as streams
from fedbench.kernels.bipartite import bipartite
from fedbench.kernels.krylov import largest_triplets


@dataclass(frozen=True)
class HypergraphBases:
    """Orthonormal columns, frequencies ascending: ``users`` P [clients, users, F_u], ``items`` Q [clients, items, F_i].

    A client with fewer frequencies under 1 has zero columns behind them.
    """

    users: Tensor
    items: Tensor


def hypergraph_bases(
    taken: Sequence[sparse.csr_matrix], users: int, items: int, dtype: torch.dtype, device: torch.device
) -> HypergraphBases:
    """Return both bases of each client.

    Args:
        taken: 0-1 matrices [users, items] of one shape, the training pairs of each client.
        users: F_u.
        items: F_i.
        dtype: of everything.
        device: where it lives.
    """
    known: dict[int, tuple[Tensor, Tensor]] = {}
    for each in taken:
        if id(each) not in known:
            known[id(each)] = _one(each, users, items, dtype, device)
    return HypergraphBases(*(torch.stack(parts) for parts in zip(*(known[id(each)] for each in taken), strict=True)))


def _one(
    taken: sparse.csr_matrix, users: int, items: int, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor]:
    random = streams.generator("hypergraph", *taken.shape, taken.nnz)
    found = largest_triplets(bipartite([taken], dtype, device), max(users, items), random)
    return _columns(found.left, users), _columns(found.right, items)


def _columns(vectors: Tensor, count: int) -> Tensor:
    chosen = vectors[:, :count]
    return pad(chosen, (0, count - chosen.shape[1]))
