"""Clients' features times their first weights: sparse where most entries are 0, dense where most aren't."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix, sparse_matrix

DENSE_FROM = 0.5
"""Share of entries that aren't 0 from which features are stored dense (what each costs: docs/benchmarks.md)."""


class ClientFeatures(Protocol):
    """Features X of packed clients, padded to the same number of rows; constant."""

    def __matmul__(self, weights: Tensor) -> Tensor:
        """Return every client's X W, [clients, rows, out], for ``weights`` [clients, in, out]; differentiable."""


@dataclass(frozen=True)
class SparseFeatures:
    """``matrix``: the clients' features on its diagonal, [clients * rows, clients * in]."""

    matrix: SparseMatrix

    def __matmul__(self, weights: Tensor) -> Tensor:
        """Return every client's X W."""
        clients, _, out = weights.shape
        return (self.matrix @ weights.reshape(-1, out)).view(clients, -1, out)


@dataclass(frozen=True)
class DenseFeatures:
    """``stack``: [clients, rows, in]."""

    stack: Tensor

    def __matmul__(self, weights: Tensor) -> Tensor:
        """Return every client's X W."""
        return self.stack @ weights


@dataclass(frozen=True)
class Coordinates:
    """A client's features by coordinates, without duplicates: ``rows``, ``columns`` int64[entries], ``values``."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def features_of(
    clients: Sequence[Coordinates], shape: tuple[int, int], *, dtype: torch.dtype, device: torch.device
) -> ClientFeatures:
    """Return the clients' features, dense if at least `DENSE_FROM` of their entries, padding included, aren't 0.

    Args:
        clients: of each packed client.
        shape: rows and columns of a client after padding.
        dtype: of the entries.
        device: where they live.
    """
    if sum(len(client.values) for client in clients) >= DENSE_FROM * len(clients) * shape[0] * shape[1]:
        return DenseFeatures(_stack(clients, shape).to(device=device, dtype=dtype))
    return SparseFeatures(_diagonal(clients, shape, dtype, device))


def _stack(clients: Sequence[Coordinates], shape: tuple[int, int]) -> Tensor:
    stack = np.zeros((len(clients), *shape), dtype=np.result_type(*(client.values for client in clients)))
    for own, client in zip(stack, clients, strict=True):
        own[client.rows, client.columns] = client.values
    return torch.from_numpy(stack)


def _diagonal(
    clients: Sequence[Coordinates], shape: tuple[int, int], dtype: torch.dtype, device: torch.device
) -> SparseMatrix:
    rows = np.concatenate([client.rows + place * shape[0] for place, client in enumerate(clients)])
    columns = np.concatenate([client.columns + place * shape[1] for place, client in enumerate(clients)])
    values = np.concatenate([client.values for client in clients])
    size = (len(clients) * shape[0], len(clients) * shape[1])
    return sparse_matrix(rows, columns, values, size, dtype=dtype, device=device)
