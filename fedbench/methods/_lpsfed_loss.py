"""What a client of LPSFed minimises in a local step."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from fedbench.kernels.angles import angle_of_cosine
from fedbench.methods._lpsfed_margins import ANGLES, bc_losses, margin_of
from fedbench.methods._lpsfed_memory import Memory, part_of
from fedbench.methods._lpsfed_popularity import bias_losses
from fedbench.methods._lpsfed_settings import LPSFedSettings
from fedbench.methods.exchange import LocalStep
from fedbench.models.ranking import PairScores


@dataclass(frozen=True)
class Loss:
    """The loss of one local step of some clients.

    Args:
        settings: LPSFed's.
        epochs: local epochs a round.
        l2: the protocol's penalty on vectors of layer 0.
        step: the step.
    """

    settings: LPSFedSettings
    epochs: int
    l2: float
    step: LocalStep

    def of_clients(self) -> Tensor:
        """Return L_bias in the warm-up, then w L_bias + (1 - w) L_BC; or BPR; of each client [S * k]."""
        if not self.settings.margins:
            return self._bpr(self._outputs())
        cosines, weight = self._cosines(), self.settings.bias.weight
        bias = self._reduced(bias_losses(cosines, self.settings.bias.tau))
        if self._warming_up:
            return bias
        outputs = self._outputs()
        losses = bc_losses(outputs.scores, self._margin(outputs, cosines[:, 0]), self.settings.tau, self._score)
        return weight * bias + (1 - weight) * self._reduced(losses) + self._squares(outputs)

    @property
    def _score(self) -> str:
        return self.settings.train_score

    @property
    def _warming_up(self) -> bool:
        return (self.step.round - 1) * self.epochs + self.step.epoch < self.settings.bias.warmup_epochs

    def _outputs(self) -> PairScores:
        outputs = self.step.network.forward(self.step.parameters, self.step.block, self.step.dropout)
        assert isinstance(outputs, PairScores)
        return outputs

    def _cosines(self) -> Tensor:
        """Return cos xi of the batch's pairs [m, 1 + negatives], constants once the codes are frozen."""
        step, memory = self.step, self.step.memory
        seeds = len(step.block.block.clients) // len(step.clients)
        codes = memory.codes_of(step.clients, seeds, step.block.device)
        cosines = codes.cosines(step.parameters).flatten()[codes.entries(step.block)]
        return cosines.detach() if self.settings.bias.frozen and not self._warming_up else cosines

    def _margin(self, outputs: PairScores, cosines: Tensor) -> Tensor:
        """Return M~ = omega M_c,upd + (1 - omega) M_ui of each pair (15); M_ui before the server has spoken."""
        own, memory = self.settings.margin, self.step.memory
        margin = margin_of(own.gamma * angle_of_cosine(cosines), ANGLES[self._score](outputs.scores[:, 0]))
        margin = margin.detach() if own.detach else margin
        if own.mean == "last_batch":
            self._note(margin.detach(), memory)
        if memory.received is None:
            return margin
        sizes = torch.tensor(self.step.block.sizes, device=margin.device)
        received = part_of(memory.received, self.step.clients).flatten().repeat_interleave(sizes)
        return own.omega * received + (1 - own.omega) * margin

    def _note(self, margins: Tensor, memory: Memory) -> None:
        """Keep the mean margin of each client that has pairs in this batch."""
        last = part_of(memory.last, self.step.clients)
        of_clients = zip(margins.split(self.step.block.sizes), last.flatten(), strict=True)
        last.copy_(torch.stack([part.mean() if len(part) else old for part, old in of_clients]).view_as(last))

    def _bpr(self, outputs: PairScores) -> Tensor:
        """Return -ln sigmoid(f_ui - f_uj), averaged over the negatives j, of each client."""
        losses = -logsigmoid(outputs.scores[:, :1] - outputs.scores[:, 1:]).mean(1)
        return self._reduced(losses) + self._squares(outputs)

    def _squares(self, outputs: PairScores) -> Tensor | float:
        """Return the protocol's penalty on vectors of layer 0, if it has one."""
        return self._reduced(0.5 * self.l2 * outputs.squares) if self.l2 else 0.0

    def _reduced(self, losses: Tensor) -> Tensor:
        """Return each client's sum or mean over its pairs; 0 where it has none."""
        parts = losses.split(self.step.block.sizes)
        if self.settings.reduction == "sum":
            return torch.stack([part.sum() for part in parts])
        return torch.stack([part.sum() / max(len(part), 1) for part in parts])
