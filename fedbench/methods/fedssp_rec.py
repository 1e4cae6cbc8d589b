"""FedSSP for recommendation: clients share how they filter a spectrum, and keep what they filter (NeurIPS 2024).

GSKS (generic spectral knowledge sharing): the eigenvalue encoder, which gives the low-pass kernels k^(l) of every
layer, is averaged; user and item vectors stay (`fedbench.models.fedssp_rec`).
PGPA (personalised graph preference adjustment): a private vector p_U is added to all user vectors and p_V to all item
vectors, and the means of the vectors without them are drawn to the clients' consensus,
    L = BPR + tau / 2 sum over (users, items) of mean over d of (m_k - m)^2,  m = mean over k of m_k of the last round,
    m_k <- momentum m_k + (1 - momentum) mean of the step's vectors.
Made for graph classification; docs/methods/fedssp_rec.md lists what is adapted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor

from fedbench.kernels.bipartite import Rows
from fedbench.methods.base import Method, bytes_of
from fedbench.methods.exchange import Cell, Exchange, LocalStep, Traffic, Trained
from fedbench.methods.weights import uniform_rows
from fedbench.models.eigenvalue_encoder import CODE, PREFIX, EigenvalueEncoder
from fedbench.models.fedssp_rec import SpectralPreferences
from fedbench.models.parameters import Parameters
from fedbench.models.vectors import pair_scores
from fedbench.settings import Settings

_SHARED = {"encoder": PREFIX, "code": CODE}


class FedSSPRecSettings(Settings):
    """Settings of FedSSP for recommendation; defaults are the released ones, where these exist."""

    width: int = Field(128, ge=2, description="e, of the eigenvalue encoder; released: 128")
    heads: int = Field(4, ge=1, description="of its attention; released: 4")
    scale: float = Field(100.0, gt=0, description="eigenvalues are multiplied by it in the sines; released: 100")
    shared: Literal["encoder", "code", "nothing"] = Field(
        "encoder",
        description="what is averaged: the whole encoder (inferred: LPSFed doesn't say), its first linear map alone "
        "(the released code for graphs keeps attention and decoder), or nothing, as a control",
    )
    preferences: bool = Field(True, description="private vectors p_U and p_V")
    tau: float = Field(100.0, ge=0, description="weight of the consensus; 0: none. Released: 100, for graphs")
    momentum: float = Field(0.5, ge=0, lt=1, description="share of the old mean in m_k; released: 0.5")

    @model_validator(mode="after")
    def _fits(self) -> FedSSPRecSettings:
        if self.width % 2 or self.width % self.heads:
            raise ValueError("width must be even, and a multiple of heads")
        return self


@dataclass
class Means:
    """``own`` [S, K, 2, d]: each client's m_k of users and of items. ``known`` [S, K]: 1 once it has one.

    ``consensus`` [S, 2, d]: m, once there is one (``agreed``).
    """

    own: Tensor
    known: Tensor
    consensus: Tensor
    agreed: bool = False


class FedSSPRec(Method[FedSSPRecSettings]):
    """FedSSP on user-item graphs."""

    Settings = FedSSPRecSettings
    source = (
        "Tan et al., FedSSP: federated graph learning with spectral knowledge and personalized preference, NeurIPS 2024"
    )

    def network(self, cell: Cell, client: int = 0) -> SpectralPreferences:  # type: ignore[override]
        """Return LGCN with an eigenvalue encoder; the protocol's backbone has no say."""
        own, model = self.settings, self.training.model
        encoder = EigenvalueEncoder(own.width, own.heads, own.scale, model.layers)
        shape = cell.shapes[client]
        return SpectralPreferences(shape.features, shape.classes, model, encoder, own.preferences)

    def shares(self, parameter: str) -> bool:
        """Share the encoder, or its first map; vectors never leave."""
        return self.settings.shared != "nothing" and parameter.startswith(_SHARED[self.settings.shared])

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> Means:
        """Return means that nobody has measured yet."""
        seeds, clients, width = len(cell.seeds), cell.clients, self.training.model.hidden_widths[0]
        own = torch.zeros(seeds, clients, 2, width, dtype=cell.dtype, device=cell.device)
        return Means(own, own.new_zeros(seeds, clients), own.new_zeros(seeds, 2, width))

    def objective(self, training: LocalStep) -> Tensor:
        """Return BPR plus the pull towards the consensus, [S * k]."""
        network: SpectralPreferences = training.network  # type: ignore[assignment]
        batch, parameters = training.block, training.parameters
        common, means = network.common_rows(parameters, batch), training.memory
        loss: Tensor = batch.loss(pair_scores(network.personal(common, parameters, batch), batch))
        if not self.settings.tau or self.settings.shared == "nothing":
            return loss
        now, seen = _means_of(common, network.owners(batch), len(batch.sizes))
        mean = self._moved(means, training.clients, now, seen)
        if not means.agreed:
            return loss
        consensus = means.consensus.repeat_interleave(len(training.clients), dim=0)
        return loss + 0.5 * self.settings.tau * (mean - consensus).square().mean(2).sum(1)

    def _moved(self, means: Means, clients: range, now: Tensor, seen: Tensor) -> Tensor:
        """Return m_k after a step, [S * k, 2, d], and remember it; clients without a pair keep theirs."""
        part = slice(clients.start, clients.stop)
        old, known = means.own[:, part].flatten(0, 1), means.known[:, part].flatten()
        kept = torch.where(seen, self.settings.momentum * known, 1.0).view(-1, 1, 1)
        mean = kept * old + (1 - kept) * now
        means.own[:, part] = mean.detach().view(means.own[:, part].shape)
        means.known[:, part] = torch.maximum(known, seen.to(known)).view(means.known[:, part].shape)
        return mean

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload m_k, [S, k, 2, d]."""
        if not self.settings.tau or self.settings.shared == "nothing":
            return {}
        return {"means": trained.memory.own[:, trained.clients.start : trained.clients.stop].clone()}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Form the consensus, and return the plain average."""
        if "means" in uploads:
            exchange.memory.consensus, exchange.memory.agreed = uploads["means"].mean(1), True
        return uniform_rows(exchange.cell)

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: the encoder and two means, both ways."""
        each_way = exchange.cell.clients * (bytes_of(shared) + bytes_of(signals))
        return Traffic(up=each_way, down=each_way)


def _means_of(rows: Rows, owners: tuple[Tensor, Tensor], clients: int) -> tuple[Tensor, Tensor]:
    """Return each client's means of the users' and of the items' vectors of a step.

    [S * k, 2, d], and whether it has any, bool [S * k].
    """
    parts = zip((rows.users, rows.items), owners, strict=True)
    means, counts = zip(*(_mean_by(values, owner, clients) for values, owner in parts), strict=True)
    return torch.stack(means, dim=1), counts[0] > 0


def _mean_by(values: Tensor, owner: Tensor, clients: int) -> tuple[Tensor, Tensor]:
    count = torch.bincount(owner, minlength=clients)
    total = values.new_zeros(clients, values.shape[1]).index_add(0, owner, values)
    return total / count.clamp(min=1).unsqueeze(1), count
