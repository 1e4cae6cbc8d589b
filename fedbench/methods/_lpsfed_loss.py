"""What a client of LPSFed minimises in a local step."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from fedbench.kernels.angles import angle_of_cosine
from fedbench.methods._lpsfed_margins import ANGLES, at_pi, bc_losses, margin_of
from fedbench.methods._lpsfed_memory import Memory, part_of
from fedbench.methods._lpsfed_popularity import PackedCodes, bias_losses
from fedbench.methods._lpsfed_settings import LPSFedSettings
from fedbench.methods.exchange import LocalStep
from fedbench.models.ranking import PairScores


@dataclass(frozen=True)
class Loss:
    """The loss of one local step of some clients.

    Args:
        settings: LPSFed's.
        epochs: local epochs a round.
        step: the step.
    """

    settings: LPSFedSettings
    epochs: int
    step: LocalStep

    def of_clients(self) -> Tensor:
        """Return L_bias in the warm-up, then w L_bias + (1 - w) L_BC; or BPR; of each client [S * k].

        Codes that are frozen after the warm-up make L_bias a constant without gradient: it is left out from there on.
        """
        if not self.settings.margins:
            return self._bpr(self._outputs())
        if self._frozen:
            return self._main(self._frozen_angles())
        cosines = self._cosines()
        bias = self._reduced(bias_losses(cosines, self.settings.bias.tau))
        if self._warming_up:
            return bias
        return self.settings.bias.weight * bias + self._main(angle_of_cosine(cosines[:, 0]))

    @property
    def _score(self) -> str:
        return self.settings.train_score

    @property
    def _warming_up(self) -> bool:
        return (self.step.round - 1) * self.epochs + self.step.epoch < self.settings.bias.warmup_epochs

    @property
    def _frozen(self) -> bool:
        return self.settings.bias.frozen and not self._warming_up

    def _main(self, apart: Tensor) -> Tensor:
        """Return (1 - w) L_BC and the penalty, of each client.

        Args:
            apart: xi of each pair taken, [m].
        """
        outputs = self._outputs()
        margin = self._margin(outputs.scores[:, 0], apart)
        losses = bc_losses(outputs.scores, margin, self.settings.tau, self._score)
        return (1 - self.settings.bias.weight) * self._reduced(losses) + self._squares(outputs)

    def _outputs(self) -> PairScores:
        outputs = self.step.network.forward(self.step.parameters, self.step.block, self.step.dropout)
        assert isinstance(outputs, PairScores)
        return outputs

    def _codes(self) -> PackedCodes:
        seeds = len(self.step.block.block.clients) // len(self.step.clients)
        codes: PackedCodes = self.step.memory.codes_of(self.step.clients, seeds, self.step.block.device)
        return codes

    def _cosines(self) -> Tensor:
        """Return cos xi of the batch's pairs, [m, 1 + negatives]."""
        codes, batch = self._codes(), self.step.block
        return codes.cosines(self.step.parameters).flatten()[codes.entries(batch, batch.item)]

    def _frozen_angles(self) -> Tensor:
        """Return xi of the batch's pairs taken [m], read from a table that is made once."""

        def made() -> tuple[PackedCodes, Tensor]:
            codes = self._codes()
            return codes, angle_of_cosine(codes.cosines(self.step.parameters).detach()).flatten()

        codes, table = self.step.memory.once_frozen(self.step.clients, made)
        found: Tensor = table[codes.entries(self.step.block, self.step.block.item[:, :1])[:, 0]]
        return found

    def _margin(self, taken: Tensor, apart: Tensor) -> Tensor:
        """Return M~ = omega M_c,upd + (1 - omega) M_ui of each pair (15); M_ui before the server has spoken.

        Args:
            taken: scores of the pairs taken, [m].
            apart: their xi, [m].
        """
        own, memory = self.settings.margin, self.step.memory
        angle = ANGLES[self._score](taken)
        margin = margin_of(own.gamma * apart, angle)
        margin = margin.detach() if own.detach else margin
        if own.mean == "last_batch":
            self._note(margin.detach(), memory)
        if memory.received is not None:
            sizes = torch.tensor(self.step.block.sizes, device=margin.device)
            received = part_of(memory.received, self.step.clients).flatten().repeat_interleave(sizes)
            margin = own.omega * received + (1 - own.omega) * margin
        angle = angle.detach()
        memory.positives.add(self.step.clients, self.step.block.sizes, angle, at_pi(angle + margin.detach()))
        return margin

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
        return 0.0 if outputs.squares is None else self._reduced(self.step.block.penalty(outputs))

    def _reduced(self, losses: Tensor) -> Tensor:
        """Return each client's sum or mean over its pairs; 0 where it has none."""
        parts = losses.split(self.step.block.sizes)
        if self.settings.reduction == "sum":
            return torch.stack([part.sum() for part in parts])
        return torch.stack([part.sum() / max(len(part), 1) for part in parts])
