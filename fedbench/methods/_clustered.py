"""What GCFL and GCFL+ share: clusters of clients that split when they disagree (Xie et al., NeurIPS 2021, section 4).

    Delta_k = uploaded - received parameters of client k; a cluster C splits where
    ||mean_{k in C} Delta_k|| < eps_1 and max_{k in C} ||Delta_k|| > eps_2,
along the minimum cut (Stoer & Wagner) of a similarity between its clients; within a cluster parameters are averaged.
Members of a cluster have received the same parameters, since clusters only split: averaging what they upload is adding
the mean of their updates. All decisions are made from the inner products <Delta_k, Delta_l>, [K, K] a seed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from fedbench.methods._clusters import ClusterMemory, ClusterSettings, SeedClusters
from fedbench.methods._min_cut import min_cut
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange
from fedbench.methods.weights import Weighing, rows_of, sizes_by
from fedbench.models.parameters import Parameters

C = TypeVar("C", bound=ClusterSettings)


class Clustered(Method[C]):
    """Averages within clusters; what similarity they are cut by is the method's."""

    source = "Xie et al., Federated graph classification over non-IID graphs, NeurIPS 2021, arXiv 2106.13423"
    anchored = True

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> ClusterMemory:
        """Return one cluster of all clients for every seed."""
        return ClusterMemory([SeedClusters([list(range(cell.clients))]) for _ in cell.seeds])

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Split clusters that are due; return W of averages within clusters."""
        products = inner_products(uploads, exchange.received).double().cpu().numpy()
        for state, of_seed in zip(exchange.memory.seeds, products, strict=True):
            state.observe(of_seed)
        self.note(uploads, exchange)
        for state, of_seed in zip(exchange.memory.seeds, products, strict=True):
            state.clusters = sorted(self._divided(state, of_seed, exchange.round))
        return cluster_rows(exchange.memory, self.settings.weights, exchange.cell)

    def note(self, uploads: Parameters, exchange: Exchange) -> None:
        """Note what else the similarity needs."""

    def ready(self, state: SeedClusters) -> bool:
        """Tell whether enough is known to compare clients."""
        return True

    @abstractmethod
    def similarity(self, state: SeedClusters, cluster: list[int], products: np.ndarray) -> np.ndarray:
        """Return the weights of the graph that is cut, [c, c], none negative.

        Args:
            state: of the seed.
            cluster: its c members.
            products: inner products of their updates, [c, c].
        """

    def after_split(self, state: SeedClusters) -> None:
        """Put the state in order after a split."""

    def _divided(self, state: SeedClusters, products: np.ndarray, round: int) -> list[list[int]]:
        parts: list[list[int]] = []
        for cluster in state.clusters:
            if not self._splits(state, cluster, round):
                parts.append(cluster)
                continue
            sides = min_cut(self.similarity(state, cluster, products[np.ix_(cluster, cluster)]))
            parts += [[cluster[member] for member in side] for side in sides]
            self.after_split(state)
        return parts

    def _splits(self, state: SeedClusters, cluster: list[int], round: int) -> bool:
        """Tell whether the criterion holds; released code also asks for more than two members and a burn-in."""
        scale = state.longest if self.settings.relative else 1.0
        disagree = (
            state.mean_norms[cluster[0]] < self.settings.eps1 * scale
            and state.norms[cluster].max() > self.settings.eps2 * scale
        )
        return bool(disagree) and len(cluster) > 2 and round > self.settings.burn_in and self.ready(state)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return each client's cluster (its first member), ||Delta_k||, and the norm of its cluster's mean, [S, K]."""
        seeds = exchange.memory.seeds
        figures = {"cluster": "labels", "update_norm": "norms", "mean_update_norm": "mean_norms"}
        return {
            name: torch.from_numpy(np.stack([getattr(state, of) for state in seeds])) for name, of in figures.items()
        }


def inner_products(uploads: Parameters, received: Parameters) -> Tensor:
    """Return <Delta_k, Delta_l> over all received parameters, [S, K, K].

    In single precision a mean update 1 / 50 as long as its members is known to about a part in a thousand.
    """
    updates = ((uploads[name] - before).flatten(2) for name, before in received.items())
    return torch.stack([update @ update.transpose(1, 2) for update in updates]).sum(0)


def cluster_rows(memory: ClusterMemory, weights: Weighing, cell: Cell) -> Tensor:
    """Return W [S, K, K] of weighted averages within clusters; while nothing has split, one row as FedAvg's."""
    sizes = sizes_by(weights, cell)
    if all(len(state.clusters) == 1 for state in memory.seeds):
        return rows_of(sizes, cell)
    labels = torch.from_numpy(np.stack([state.labels for state in memory.seeds]))
    chosen = (labels.unsqueeze(1) == labels.unsqueeze(2)) * sizes.cpu().double()
    return (chosen / chosen.sum(2, keepdim=True)).to(dtype=cell.dtype, device=cell.device)
