"""GCFL+: clients are clustered by how the norms of their gradients move (Xie et al., NeurIPS 2021, section 4.3).

Similarity of two members of a cluster that splits: max(D) - D_ij, D_ij the dynamic-time-warping distance of their last
norms. The released code empties all series after a split, so that a seed has one split a round at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from fedbench.methods._clustered import Clustered
from fedbench.methods._clusters import ClusterMemory, ClusterSettings, SeedClusters
from fedbench.methods._warping import unit_spread, warping_distances
from fedbench.methods.exchange import Cell, Exchange, Trained
from fedbench.models.parameters import Parameters


class GCFLPlusSettings(ClusterSettings):
    """Settings of GCFL+."""

    series: Literal["gradient_norm", "update_norm"] = Field(
        "gradient_norm",
        description="released code: norm of a round's last gradient of the shared parameters; paper: ||Delta_k||",
    )
    window: int = Field(
        10,
        ge=2,
        description="last rounds that are compared; the paper's figure and the released script for several data sets "
        "(its script for one data set, and the published commands: 5)",
    )
    standardise: bool = Field(False, description="divide each series by its standard deviation (released: off)")


@dataclass(frozen=True)
class GradientMemory(ClusterMemory):
    """Clusters, and each client's norm of its last gradient [S, K], which the client keeps until it uploads.

    ``names``: the shared parameters, whose gradient it is.
    """

    gradient_norms: Tensor
    names: frozenset[str]


class GCFLPlus(Clustered[GCFLPlusSettings]):
    """GCFL with series of norms in place of one round's updates."""

    Settings = GCFLPlusSettings

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> GradientMemory:
        """Return one cluster of all clients for every seed, and no series."""
        norms = torch.zeros(len(cell.seeds), cell.clients, dtype=cell.dtype, device=cell.device)
        return GradientMemory(super().memory(cell, data, shared).seeds, norms, frozenset(shared))

    def corrected(self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: Any) -> dict[str, Tensor]:
        """Note the norm of the shared parameters' gradient of those who take this step; change nothing."""
        squares = [g.flatten(2).square().sum(2) for name, g in gradients.items() if name in memory.names]
        if squares and self.settings.series == "gradient_norm":
            mine = memory.gradient_norms[:, clients.start : clients.stop]
            mine.copy_(torch.where(active, torch.stack(squares).sum(0).sqrt(), mine))
        return gradients

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload the gradient norm, [S, k]; a norm of the update is the server's to compute."""
        if self.settings.series == "update_norm":
            return {}
        return {"gradient_norm": trained.memory.gradient_norms[:, trained.clients.start : trained.clients.stop]}

    def note(self, uploads: Parameters, exchange: Exchange) -> None:
        """Append this round's norms to every seed's series."""
        sent = uploads["gradient_norm"].double().cpu().numpy() if "gradient_norm" in uploads else None
        for index, state in enumerate(exchange.memory.seeds):
            state.series.append(state.norms if sent is None else sent[index])

    def ready(self, state: SeedClusters) -> bool:
        """Tell whether a full window has passed since the last split."""
        return len(state.series) >= self.settings.window

    def similarity(self, state: SeedClusters, cluster: list[int], products: np.ndarray) -> np.ndarray:
        """Return max(D) - D, [c, c]."""
        series = np.stack(state.series[-self.settings.window :], axis=1)[cluster]
        distances = warping_distances(unit_spread(series) if self.settings.standardise else series)
        weights: np.ndarray = distances.max() - distances
        return weights

    def after_split(self, state: SeedClusters) -> None:
        """Empty all series."""
        state.series.clear()
