"""FedAux: an auxiliary projection vector (APV) per client orders its nodes and measures client similarity.

Client (section 3): h_i from the GNN, scaled by the largest row norm; score s_i = <h_i, a_k>;
    z_i = sum_j kappa(s_i, s_j) h_j / sum_j kappa(s_i, s_j), kappa(s, t) = exp(-(s - t)^2 / sigma^2);
    classifier on [h_i || z_i]; cross-entropy, trained together with a_k.
Server: w_kl = exp(alpha cos(a_k, a_l)) / sum_r exp(alpha cos(a_k, a_r)) mixes GNN weights and APVs; masks stay local.
docs/methods/fedaux.md maps each line to the paper and lists where the released code differs.
"""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field, field_validator
from torch import Tensor

from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange
from fedbench.methods.weights import cosine, similarity_mixing
from fedbench.models.heads import HardSortHead, Head, KernelHead
from fedbench.models.masks import Masks, is_mask
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
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
    renormalise_apv: bool = Field(
        False, description="a <- a / ||a|| after every local step, as theorem 3.1 assumes; neither text nor code does"
    )
    hard_sort: bool = Field(
        False, description="table 6, ablation (i): hard sort by score and Conv1D in place of the kernel average"
    )
    hard_kernel_size: int = Field(
        5, ge=1, description="Conv1D's kernel size B in ablation (i), odd. Inferred: the paper doesn't give it"
    )

    @field_validator("hard_kernel_size")
    @classmethod
    def _odd(cls, size: int) -> int:
        if size % 2 == 0:
            raise ValueError("must be odd, so that the window has a middle")
        return size


class FedAux(Method[FedAuxSettings]):
    """FedAux, ``paper`` or the ``released`` model behind the authors' committed run."""

    Settings = FedAuxSettings
    source = "Personalized subgraph FL with differentiable auxiliary projections, NeurIPS 2025, arXiv 2505.23864"

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the masked network with an APV."""
        return self.protocol_network(cell, client, head=self._head(), masks=Masks())

    def _head(self) -> Head:
        own = self.settings
        if own.hard_sort:
            return HardSortHead(own.hard_kernel_size, own.score, own.apv_start)
        return KernelHead(own.sigma, own.score, own.apv_start)

    def constrain(self, local: Parameters) -> None:
        """Put the APV back on the unit sphere, if so set."""
        if self.settings.renormalise_apv:
            local["apv"].div_(local["apv"].norm(dim=-1, keepdim=True))

    def shares(self, parameter: str) -> bool:
        """Share GNN weights and the APV, the classifier if so set; masks never leave the client."""
        if is_mask(parameter):
            return False
        return self.settings.mix_classifier or not parameter.startswith("classifier.")

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return w."""
        return similarity_mixing(cosine(uploads["apv"]), self.settings.alpha)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return each client's mean cosine between its APV and the others', [S, K]; 1 if it is alone."""
        similarity, others = cosine(uploads["apv"]), max(exchange.cell.clients - 1, 1)
        alone = exchange.cell.clients == 1
        return {"apv_cosine": torch.ones_like(similarity[..., 0]) if alone else (similarity.sum(2) - 1.0) / others}
