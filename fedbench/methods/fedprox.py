"""FedProx: FedAvg with a proximal term in the local objective (Li et al., MLSys 2020, equation 2)."""

from __future__ import annotations

from pydantic import Field
from torch import Tensor

from fedbench.methods._weighted_average import WeightedAverage, WeightedSettings
from fedbench.methods.weights import squared_distance
from fedbench.models.parameters import Parameters


class FedProxSettings(WeightedSettings):
    """Settings of FedProx."""

    mu: float = Field(
        0.01,
        ge=0,
        description="weight of the proximal term. Inferred: neither FED-PUB nor FedAux states it; 0.01 is GCFL's, "
        "and the middle of the values FedProx's authors tune over",
    )


class FedProx(WeightedAverage[FedProxSettings]):
    """h_k(w; w^t) = F_k(w) + mu/2 ||w - w^t||^2 (equation 2); averaging as in FedAvg.

    With one local step a round the term has no effect whatever mu is: its gradient mu (w - w^t) is taken at w = w^t.
    """

    Settings = FedProxSettings
    source = "Li et al., Federated optimization in heterogeneous networks, MLSys 2020"
    anchored = True

    def penalty(self, local: Parameters, received: Parameters, round: int) -> Tensor | None:
        """Return mu/2 ||w - w^t||^2 per client, [S, K]."""
        return 0.5 * self.settings.mu * squared_distance(local, received)
