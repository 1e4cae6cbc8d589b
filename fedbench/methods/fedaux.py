"""FedAux: an auxiliary projection vector (APV) per client orders its nodes and measures client similarity.

Client (section 3): h_i from the GNN, scaled by the largest row norm; score s_i = <h_i, a_k>;
    z_i = sum_j kappa(s_i, s_j) h_j / sum_j kappa(s_i, s_j), kappa(s, t) = exp(-(s - t)^2 / sigma^2);
    classifier on [h_i || z_i]; cross-entropy, trained together with a_k.
Server: w_kl = exp(alpha cos(a_k, a_l)) / sum_r exp(alpha cos(a_k, a_r)) mixes GNN weights and APVs; masks stay local.
docs/methods/fedaux.md maps each line to the paper and lists where the released code differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.gaussian import kernel_average
from fedbench.methods.base import Cell, Method, cosine, similarity_mixing
from fedbench.models.masked_gcn import MaskedGCN
from fedbench.models.network import GraphBlock, Network
from fedbench.models.parameters import Parameter, Parameters, normal, uniform
from fedbench.settings import Settings


class FedAuxSettings(Settings):
    """Settings of FedAux; defaults are the paper's."""

    alpha: float = Field(10.0, ge=0, description="similarity scale (paper, appendix D; its appendix E calls 1 good)")
    sigma: float = Field(1.0, gt=0, description="kernel width (paper: 1; the released README's command: 10)")
    score: Literal["inner_product", "cosine"] = Field(
        "inner_product", description="paper: <h_i / max_j ||h_j||, a>; released code: cos(h_i, a)"
    )
    apv_start: Literal["normal", "uniform"] = Field(
        "normal", description="paper: N(0, I); the released models that can run start the APV uniformly in [0, 1)"
    )
    mix_classifier: bool = Field(
        False, description="the paper's equations mix theta and a only; the released code mixes the classifier too"
    )


@dataclass(frozen=True)
class FedAuxNetwork(MaskedGCN):
    """Masked GCN with a kernel average over the APV's scores in front of the classifier."""

    sigma: float = 1.0
    score: Literal["inner_product", "cosine"] = "inner_product"
    apv_start: Literal["normal", "uniform"] = "normal"

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the masked GCN's parameters, the classifier on 2 x width features, and ``apv`` [width]."""
        start = {"normal": normal, "uniform": uniform}[self.apv_start]
        return dict(super().parameters()) | {"apv": Parameter((self.width,), start)}

    def classifier(self, incoming: int) -> dict[str, Parameter]:
        """Declare the readout on [h || z]."""
        return super().classifier(2 * incoming)

    def forward(self, parameters: Parameters, block: GraphBlock, dropout: DropoutStream | None) -> Tensor:
        """Return logits [clients, slots, classes]."""
        h = self.hidden(parameters, block, dropout)
        scores = self.scores(h, parameters["apv"], block.present)
        bound = 1.0 if self.score == "cosine" else None
        z = kernel_average(scores, h, block.present, self.sigma, bound)
        return self.read_out(parameters, block, torch.cat([h, z], dim=2))

    def scores(self, h: Tensor, apv: Tensor, present: Tensor) -> Tensor:
        """Return the nodes' scores [clients, slots] along the APV; padding scores 0."""
        return {"inner_product": _inner_product, "cosine": _cosine}[self.score](h, apv, present)


def _inner_product(h: Tensor, apv: Tensor, present: Tensor) -> Tensor:
    """Return <h_i / max_j ||h_j||, a>."""
    largest = (h.norm(dim=2) * present).amax(dim=1, keepdim=True)
    return _along(h, apv) / largest.clamp_min(torch.finfo(h.dtype).tiny) * present


def _cosine(h: Tensor, apv: Tensor, present: Tensor) -> Tensor:
    """Return cos(h_i, a), 0 for a node whose representation is 0."""
    lengths = h.norm(dim=2) * apv.norm(dim=1, keepdim=True)
    return _along(h, apv) / lengths.clamp_min(torch.finfo(h.dtype).tiny) * present


def _along(h: Tensor, apv: Tensor) -> Tensor:
    return (h * apv.unsqueeze(1)).sum(2)


class FedAux(Method[FedAuxSettings]):
    """FedAux, ``paper`` or the ``released`` model behind the authors' committed run."""

    Settings = FedAuxSettings
    source = "Personalized subgraph FL with differentiable auxiliary projections, NeurIPS 2025, arXiv 2505.23864"

    def network(self, cell: Cell) -> Network:
        """Return the masked GCN with APV."""
        model, own = self.training.model, self.settings
        return FedAuxNetwork(
            cell.features, cell.classes, model.layers, model.width, model.dropout, model.readout,
            sigma=own.sigma, score=own.score, apv_start=own.apv_start,
        )  # fmt: skip

    def shares(self, parameter: str) -> bool:
        """Share GNN weights and the APV, the classifier if so set; masks never leave the client."""
        if parameter.endswith(".mask"):
            return False
        return self.settings.mix_classifier or not parameter.startswith("classifier.")

    def mixing(self, uploads: Parameters, cell: Cell) -> Tensor:
        """Return w."""
        return similarity_mixing(cosine(uploads["apv"]), self.settings.alpha)
