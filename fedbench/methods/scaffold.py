"""SCAFFOLD: control variates correct the drift of local steps (Karimireddy et al., ICML 2020, algorithm 1).

Client, a local step (line 10): y_i <- y_i - eta (g_i(y_i) - c_i + c).
Client, after K of them (line 12): c_i+ <- g_i(x) (option I), or c_i - c + (x - y_i) / (K eta) (option II).
Server (lines 16, 17), all clients taking part: x <- x + eta_g mean(y_i - x), c <- c + mean(c_i+ - c_i); here eta_g = 1.

Summing line 10 over K steps of plain gradient descent gives (x - y_i) / (K eta) = mean(g_i) - c_i + c, so option II is
c_i+ = mean of the client's raw gradients over its local steps. That is what is computed: the same to rounding for SGD,
and it keeps its meaning under Adam, where (x - y_i) / (K eta) is no gradient at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from fedbench.methods.base import Method, bytes_of
from fedbench.methods.exchange import Cell, Exchange, Traffic
from fedbench.methods.weights import uniform_rows
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings


class SCAFFOLDSettings(Settings):
    """Settings of SCAFFOLD."""

    option: Literal["I", "II"] = Field(
        "II",
        description="c_i+: the gradient at the received model, taken from the first local step (I), or the mean over "
        "the local steps (II, the option of the paper's experiments)",
    )


@dataclass
class ControlVariates:
    """Client variates ``own``, ``correction`` c - c_i, and what the current round's gradients add up to.

    ``own``, ``correction``, ``sums``: name to [S, K, ...]; ``counted`` [S, K]: gradients in ``sums``.
    """

    own: dict[str, Tensor]
    correction: dict[str, Tensor]
    sums: dict[str, Tensor]
    counted: Tensor


class SCAFFOLD(Method[SCAFFOLDSettings]):
    """SCAFFOLD with all clients in every round and global step size 1; control variates of shared parameters only."""

    Settings = SCAFFOLDSettings
    source = "Karimireddy et al., SCAFFOLD: stochastic controlled averaging for federated learning, ICML 2020"

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> ControlVariates:
        """Start all variates at zero."""
        own, correction, sums = ({name: torch.zeros_like(s) for name, s in shared.items()} for _ in range(3))
        counted = torch.zeros(len(cell.seeds), cell.clients, dtype=cell.dtype, device=cell.device)
        return ControlVariates(own, correction, sums, counted)

    def corrected(
        self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: ControlVariates
    ) -> dict[str, Tensor]:
        """Return g_i - c_i + c of the shared parameters (line 10), in place, and remember g_i for c_i+."""
        part = slice(clients.start, clients.stop)
        counted = memory.counted[:, part]
        wanted, first = active & (counted == 0) if self.settings.option == "I" else active, not bool(counted.any())
        for name, sums in memory.sums.items():
            _add(sums[:, part], gradients[name], wanted, first)
        counted += wanted
        for name, correction in memory.correction.items():
            gradients[name].add_(correction[:, part])
        return gradients

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Update c_i (line 12) and c (line 17), and return the plain average (line 16).

        All variates start at zero and all clients take part, so that line 17 keeps c equal to the mean of the c_i.
        """
        variates: ControlVariates = exchange.memory
        stepped, times = variates.counted > 0, variates.counted.clamp(min=1)
        for name, sums in variates.sums.items():
            mean = sums.div_(_over(times, sums)) if bool((times > 1).any()) else sums
            own = mean if bool(stepped.all()) else torch.where(_over(stepped, mean), mean, variates.own[name])
            torch.sub(own.mean(1, keepdim=True), own, out=variates.correction[name])
            variates.own[name], variates.sums[name] = own, variates.own[name]
        variates.counted.zero_()
        return uniform_rows(exchange.cell)

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: (y_i, c_i+) up and (x, c) down, twice the shared parameters each way."""
        each_way = 2 * exchange.cell.clients * bytes_of(shared)
        return Traffic(up=each_way, down=each_way)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return ||c - c_i||, how far each client's correction moves its gradient, [S, K]."""
        variates: ControlVariates = exchange.memory
        norms = [torch.linalg.vector_norm(stack.flatten(2), dim=2) for stack in variates.correction.values()]
        return {"correction_norm": torch.stack(norms).square().sum(0).sqrt()}


def _add(sums: Tensor, gradients: Tensor, wanted: Tensor, first: bool) -> None:
    """Add the gradients [S, k, ...] of the wanted clients [S, k], or begin with them if they are a round's first."""
    chosen = gradients if bool(wanted.all()) else torch.where(_over(wanted, gradients), gradients, 0.0)
    if first:
        sums.copy_(chosen)
    else:
        sums.add_(chosen)


def _over(figures: Tensor, stack: Tensor) -> Tensor:
    """Return ``figures`` [S, k] with as many axes as ``stack`` [S, k, ...]."""
    return figures.view(*figures.shape, *(1,) * (stack.dim() - 2))
