"""q-FedAvg: clients with a higher loss count more (Li et al., ICLR 2020, algorithm 2).

Objective (equation 2): sum_k F_k(w)^{q+1} / (q+1). Client k, with F_k its whole training loss at the received w:
    Delta_k = L (w - w_k)                                     what it sends as a gradient
    h_k = q F_k^{q-1} ||Delta_k||^2 + L F_k^q                 an upper bound of its objective's curvature
Server: w <- w - sum_k F_k^q Delta_k / sum_k h_k = w - sum_k a_k (w - w_k), a_k = L F_k^q / sum_l h_l.
So W has rows a, and clients keep 1 - sum_k a_k of what they had received.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field
from torch import Tensor

from fedbench.methods._training_loss import TrainingData
from fedbench.methods.base import Method
from fedbench.methods.exchange import REMADE, Cell, Exchange, Trained
from fedbench.methods.weights import squared_distance
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings

_ABOVE_ZERO = 1e-10  # added to every loss (released code): F^{q-1} is infinite at 0


class QFedAvgSettings(Settings):
    """Settings of q-FedAvg."""

    q: float = Field(
        0.1,
        ge=0,
        description="how much clients with a higher loss count; 0: the uniform average. Inferred: no paper on "
        "federated graphs states it; the authors choose it by data set (5 in their code's example)",
    )
    lipschitz: float | None = Field(
        None,
        gt=0,
        description="L, the inverse step size of local training; null: 1 / learning rate (paper and released code), "
        "which is for plain gradient descent: an Adam step isn't learning rate times gradient",
    )


@dataclass(frozen=True)
class FairMemory:
    """The clients' training data."""

    data: TrainingData = field(metadata=REMADE)


class QFedAvg(Method[QFedAvgSettings]):
    """q-FedAvg with all clients in every round, each counted once, whatever its size."""

    Settings = QFedAvgSettings
    source = "Li, Sanjabi, Beirami, Smith, Fair resource allocation in federated learning, ICLR 2020"
    anchored = True
    begins_round = True

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> FairMemory:
        """Keep the clients' training data as one batch."""
        return FairMemory(TrainingData(self.training))

    def begin_round(self, trained: Trained) -> dict[str, Tensor]:
        """Upload F_k at the received model, [S, k]."""
        return {"training_loss": trained.memory.data.loss(trained)}

    @property
    def lipschitz(self) -> float:
        """L."""
        return self.settings.lipschitz or 1.0 / self.training.learning_rate

    def shares_of_step(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return a_k = L F_k^q / sum_l h_l, [S, K]."""
        q, scale, loss = self.settings.q, self.lipschitz, uploads["training_loss"].double() + _ABOVE_ZERO
        squares = scale**2 * squared_distance(uploads, exchange.received).double()  # ||Delta_k||^2: not the norm
        curvature = q * loss ** (q - 1) * squares + scale * loss**q
        return scale * loss**q / curvature.sum(1, keepdim=True)

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W whose rows are all a."""
        shares = self.shares_of_step(uploads, exchange).to(exchange.cell.dtype)
        return shares.unsqueeze(1).expand(-1, exchange.cell.clients, -1)

    def kept(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return 1 - sum_k a_k, [S, K]."""
        total = self.shares_of_step(uploads, exchange).sum(1, keepdim=True)
        return (1 - total).to(exchange.cell.dtype).expand(-1, exchange.cell.clients)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return F_k and a_k, [S, K]; sum_k a_k is how far the server goes towards an average."""
        return {"training_loss": uploads["training_loss"], "share": self.shares_of_step(uploads, exchange)}
