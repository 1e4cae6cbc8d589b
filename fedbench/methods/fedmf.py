"""FedMF: matrix factorisation in which users stay and items' gradients go to the server (Chai et al. 2021, section 4).

A user's step: u <- u - eta dL/du. It sends G_i = eta dL/dv_i of its items, encrypted; the sum of ciphertexts is exact,
so nothing is encrypted here. Server: v_i <- v_i - sum_u G_i. Here a client takes the steps of all its users and sends
the sums (`_summed_steps`). Made for ratings; docs/methods/fedmf.md says what implicit feedback changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field
from torch import Tensor

from fedbench.methods._pair_losses import bpr, squared_error, sums, with_penalty
from fedbench.methods._summed_steps import SummedSteps, SummedStepsSettings
from fedbench.methods.exchange import Exchange, LocalStep, Traffic
from fedbench.models.parameters import Parameters

_LOSSES: dict[str, Callable[[Tensor], Tensor]] = {"bpr": bpr, "pointwise": squared_error}


class FedMFSettings(SummedStepsSettings):
    """Settings of FedMF."""

    loss: Literal["bpr", "pointwise"] = Field(
        "bpr",
        description="on taken and drawn items; FedMF has ratings and squared errors. pointwise: squared errors of 1 "
        "for a taken item and 0 for each of `ranking.negatives` others (inferred: both readings are usual)",
    )
    reduction: Literal["sum", "mean"] = Field(
        "sum", description="over a step's pairs: FedMF's gradients are sums; mean: the common frame's"
    )
    upload: Literal["part", "full"] = Field(
        "part",
        description="rows that are sent and counted: those of the client's items that another client has too (FedMF, "
        "'Part': rated items), or of all items both ways ('Full', hides which they are); the figures are the same",
    )


class FedMF(SummedSteps[FedMFSettings]):
    """FedMF on implicit feedback; users' vectors never leave a client."""

    Settings = FedMFSettings
    source = "Chai, Wang, Chen, Yang, Secure federated matrix factorization, IEEE Intelligent Systems 2021"

    def objective(self, training: LocalStep) -> Tensor:
        """Return the sum (or mean) of the pairs' losses, [S * k]."""
        batch = training.block
        outputs = training.network.forward(training.parameters, batch, training.dropout)
        total = sums(batch, with_penalty(batch, outputs, _LOSSES[self.settings.loss]))  # type: ignore[arg-type]
        if self.settings.reduction == "sum":
            return total
        return total / total.new_tensor(batch.sizes).clamp(min=1)

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of rows that a full upload (and download) has beside those that the engine counts."""
        width = self.training.model.hidden_widths[0]
        extra = 4 * width * exchange.memory.unsent if self.settings.upload == "full" else 0
        return Traffic(extra, extra)
