"""FedSST: clients weighed by a structural signal of a common probe graph (CVPR 2026).

Client, after its local steps: S_st, how its first convolution sees the probe (`_fedsst_probe`), one number sent.
Server: distances, scores and weights w from the signals of all clients (`_fedsst_weights`).
SSCA: theta_k^int = alpha_k theta_G + (1 - alpha_k) theta_k, theta_G <- sum_k w_k theta_k^int.
SLTA: client k takes E_k local epochs.
The paper and its code could not be read, only a note on it. docs/methods/fedsst.md tells what is from where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor

from fedbench.methods._fedsst_probe import Probe, ProbeSettings, draw_probe
from fedbench.methods._fedsst_weights import EpochSettings, FusionSettings, ScoreSettings, Standing
from fedbench.methods.base import Method
from fedbench.methods.exchange import REMADE, Cell, Exchange, Trained
from fedbench.methods.weights import rows_by
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings


class FedSSTSettings(Settings):
    """Settings of FedSST."""

    ssca: bool = Field(True, description="structural signals weigh the aggregation")
    slta: bool = Field(True, description="structural signals set the local epochs; else the protocol's")
    probe: ProbeSettings = Field(ProbeSettings(), description="the probe graph, what is read off it, and when")
    score: ScoreSettings = Field(ScoreSettings(), description="from signals to weights w")
    epochs: EpochSettings = Field(EpochSettings(), description="SLTA: from w to local epochs")
    fusion: FusionSettings = Field(FusionSettings(), description="SSCA: from w to alpha, and where clients start")
    without_ssca: Literal["train_nodes", "uniform"] = Field(
        "train_nodes", description="weights of the plain average that stands in for SSCA (inferred; FedSSP: uniform)"
    )

    @model_validator(mode="after")
    def _measurable(self) -> FedSSTSettings:
        if self.probe.enters == "input" and self.probe.model not in ("local", "local_previous"):
            raise ValueError("a probe that enters the private input layer needs a model that the client trained")
        return self


@dataclass
class Known:
    """What server and clients know between rounds.

    ``standing``: from the signals known when a round begins. ``used``: what the last round was aggregated with;
    ``epochs``: the local epochs that it had. ``weight``, ``alpha`` [S, K]: its w_k and alpha_k. ``model``: theta_G,
    name to [S, 1, ...]. ``integrated``: theta_k^int, name to [S, K, ...]; kept if clients are evaluated on it.
    """

    probe: Probe = field(metadata=REMADE)
    standing: Standing
    used: Standing
    epochs: Tensor
    weight: Tensor
    alpha: Tensor
    model: dict[str, Tensor]
    integrated: dict[str, Tensor] = field(default_factory=dict)


class FedSST(Method[FedSSTSettings]):
    """FedSST on the convolutions; SSCA and SLTA can each be switched off."""

    Settings = FedSSTSettings
    source = "FedSST, CVPR 2026 (from a note on the paper; neither text nor code was available)"
    anchored = True

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> Known:
        """Draw the probe; all clients start alike, so that round 1 has equal signals and equal weights."""
        alike = torch.zeros(len(cell.seeds), cell.clients, dtype=torch.float64, device=cell.device)
        standing = Standing.of(alike, self.settings.score)
        model = {name: stack[:, :1].clone() for name, stack in shared.items()}
        probe, epochs = self._probe(cell), self._epochs(standing)
        return Known(probe, standing, standing, epochs, standing.weight, alike, model)

    def _probe(self, cell: Cell) -> Probe:
        return draw_probe(self.settings.probe, cell.device, tuple(shape.features for shape in cell.shapes))

    def local_epochs(self, round: int, cell: Cell, memory: Known) -> Tensor:
        """Return E_k, or the protocol's local epochs without SLTA."""
        memory.epochs = self._epochs(memory.standing)
        return memory.epochs

    def _epochs(self, standing: Standing) -> Tensor:
        if self.settings.slta:
            return standing.epochs(self.settings.epochs).cpu()
        return torch.full(standing.weight.shape, self.training.local_epochs)

    def evaluated(self, trained: Trained) -> Parameters:
        """Return the clients' parameters, the shared ones as theta_k^int if asked for."""
        part = slice(trained.clients.start, trained.clients.stop)
        return {**trained.effective, **{n: s[:, part] for n, s in trained.memory.integrated.items()}}

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload S_st of the trained model, [S, k], if anything depends on it."""
        if not (self.settings.ssca or self.settings.slta):
            return {}
        return {"structure": trained.memory.probe.signal(trained.effective, trained.clients)}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W of theta_G = sum_k w_k theta_k^int (see `kept`), and learn what the next round goes by."""
        known: Known = exchange.memory
        signal = uploads.get("structure", known.standing.signal)
        known.used = known.standing
        if self.settings.probe.model == "local":
            known.used = Standing.of(signal, self.settings.score)
        known.weight, known.alpha = self._shares(known.used, exchange.cell)
        local = {name: uploads[name] for name in known.model}
        integrated = {name: _between(stack, known.model[name], known.alpha) for name, stack in local.items()}
        known.model = {name: _over(known.weight, s).mul(s).sum(1, keepdim=True) for name, s in integrated.items()}
        if self.settings.fusion.evaluated == "integrated":
            known.integrated = integrated
        if self._personal:
            for name, stack in local.items():  # theta_k^int is what a client sends, and here what it gets back
                stack.copy_(integrated[name])
        received = local if self._personal else {n: s.expand_as(local[n]) for n, s in known.model.items()}
        known.standing = Standing.of(self._signal(known, signal, integrated, received), self.settings.score)
        return self._rows(known, exchange.cell)

    @property
    def _personal(self) -> bool:
        return self.settings.ssca and self.settings.fusion.start_from == "integrated"

    def _shares(self, standing: Standing, cell: Cell) -> tuple[Tensor, Tensor]:
        """Return w and alpha [S, K]; without SSCA those of a plain average."""
        if self.settings.ssca:
            return standing.weight, standing.alpha(self.settings.fusion)
        plain = rows_by(self.settings.without_ssca, cell)
        return plain[:, 0].double(), torch.zeros_like(standing.weight)

    def _signal(self, known: Known, local: Tensor, integrated: Parameters, received: Parameters) -> Tensor:
        """Return S_st of the model that is probed for the next round, as clients would send it."""
        models = {"integrated_previous": integrated, "received": received}
        probed = models.get(self.settings.probe.model)
        return local if probed is None else known.probe.signal(probed, range(local.shape[1]))

    def _rows(self, known: Known, cell: Cell) -> Tensor:
        shape = (len(cell.seeds), cell.clients, cell.clients)
        if self._personal:
            return torch.eye(cell.clients, dtype=cell.dtype, device=cell.device).expand(shape)
        return (known.weight * (1 - known.alpha)).to(cell.dtype).unsqueeze(1).expand(shape)

    def kept(self, uploads: Parameters, exchange: Exchange) -> Tensor | None:
        """Return sum_k w_k alpha_k, the share of the old theta_G in the new one, [S, K]."""
        known: Known = exchange.memory
        if self._personal or not self.settings.ssca:
            return None
        kept = (known.weight * known.alpha).sum(1, keepdim=True)
        return kept.to(exchange.cell.dtype).expand_as(known.weight)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return S_st, r, w, alpha_k and E_k of the round, [S, K]."""
        known: Known = exchange.memory
        return {
            "structure": known.used.signal,
            "distance": known.used.distance,
            "weight": known.used.weight,
            "alpha": known.alpha,
            "local_epochs": known.epochs.double(),
        }


def _between(local: Tensor, model: Tensor, alpha: Tensor) -> Tensor:
    """Return alpha_k theta_G + (1 - alpha_k) theta_k, [S, K, ...]."""
    return torch.lerp(local, model.expand_as(local), _over(alpha, local))


def _over(figures: Tensor, stack: Tensor) -> Tensor:
    """Return ``figures`` [S, K] with as many axes as ``stack`` [S, K, ...], and in its precision."""
    return figures.to(stack.dtype).view(*figures.shape, *(1,) * (stack.dim() - 2))
