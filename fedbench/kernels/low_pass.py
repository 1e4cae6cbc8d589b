"""The lowest frequencies of a client's user-item graph.

The normalised Laplacian of a bipartite graph, L = I - D^(-1/2) A D^(-1/2), has the eigenvalues 1 - s and 1 + s, s the
singular values of R = D_u^(-1/2) A D_i^(-1/2), and at 1 - s the eigenvector (u; v) / sqrt 2. So its lowest frequencies
come from the largest singular triplets, and no matrix of users plus items is built.
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
class LowPass:
    """Eigenvectors of clients' Laplacians, frequencies ascending.

    ``users`` [clients, users, F] and ``items`` [clients, items, F] are the two parts of orthonormal columns;
    ``frequencies`` [clients, F] the eigenvalues. A client whose graph has fewer than F eigenvalues under 1 has zero
    columns behind them, of frequency 1: what lies at 1 and above is no low frequency.
    """

    users: Tensor
    items: Tensor
    frequencies: Tensor


def low_pass(taken: Sequence[sparse.csr_matrix], count: int, dtype: torch.dtype, device: torch.device) -> LowPass:
    """Return the ``count`` lowest frequencies of each client.

    Args:
        taken: 0-1 matrices [users, items] of one shape, the training pairs of each client.
        count: F.
        dtype: of everything.
        device: where it lives.
    """
    known: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
    for each in taken:
        if id(each) not in known:
            known[id(each)] = _one(each, count, dtype, device)
    return LowPass(*(torch.stack(parts) for parts in zip(*(known[id(each)] for each in taken), strict=True)))


def _one(
    taken: sparse.csr_matrix, count: int, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor, Tensor]:
    random = streams.generator("low pass", *taken.shape, taken.nnz)
    found = largest_triplets(bipartite([taken], dtype, device), count, random)
    missing = (0, count - len(found.values))
    return pad(found.left / 2**0.5, missing), pad(found.right / 2**0.5, missing), 1 - pad(found.values, missing)
