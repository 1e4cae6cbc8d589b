"""A round's local training: every client's own steps, all clients of a pack in one backward pass.

Gradients don't cross the blocks of a block-diagonal graph, so the gradient of the sum of the clients' losses is each
client's own gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fedbench.engine.cohort import Cohort, Pack
from fedbench.errors import TrainingError
from fedbench.methods.base import Method
from fedbench.methods.exchange import LocalStep
from fedbench.tasks.task import Step


@dataclass(frozen=True)
class LocalRound:
    """What is going on: the method and its memory, the cell, the clients, the round.

    ``received``: shared parameters [S, k, ...] as they were at its start, if the method asks for them.
    """

    method: Method[Any]
    memory: Any
    cohort: Cohort
    pack: Pack
    round: int
    received: dict[str, Tensor]


def train_locally(local: LocalRound) -> tuple[Tensor, list[int]]:
    """Take the local steps of a pack's clients; return each one's last loss [S * k], and how many steps it took.

    Raises:
        TrainingError: a loss is not finite.
    """
    cohort, clients = local.cohort, local.pack.clients
    asked = local.method.local_epochs(local.round, cohort.cell, local.memory)
    epochs = asked[:, clients.start : clients.stop].flatten()
    last = torch.full((len(epochs),), float("nan"), dtype=cohort.cell.dtype, device=cohort.cell.device)
    block, taken = local.method.seen(local.pack.block, clients, local.memory), [0] * len(epochs)
    for epoch in range(int(epochs.max())):
        for step in cohort.task.steps(block, cohort.training, local.pack.members, local.round, epoch):
            active = _active(step, epochs > epoch)
            loss = _step(local, step, epoch, taken, active)
            last = loss if all(active) else torch.where(torch.tensor(active, device=loss.device), loss, last)
            taken = [before + takes for before, takes in zip(taken, active, strict=True)]
    return last, taken


def _active(step: Step, still: Tensor) -> list[bool]:
    """Tell which clients take a step: of those that have epochs left, the ones that it is for."""
    return (still if step.takes is None else still & step.takes.cpu()).tolist()


def _step(local: LocalRound, step: Step, epoch: int, taken: list[int], active: list[bool]) -> Tensor:
    """Take one step; ``taken``: the steps of each client before it in the round."""
    cohort, pack, method = local.cohort, local.pack, local.method
    dropout = cohort.dropout_stream(pack, step.block, local.round, taken)
    data = (pack.network, pack.parameters, step.block, dropout)
    context = LocalStep(*data, pack.clients, local.memory, local.round, epoch)
    loss = method.objective(context)
    total = loss.sum()
    penalty = method.penalty(cohort.by_client(pack.parameters), local.received, local.round)
    if penalty is not None:
        total = total + penalty.sum()
    _require_finite(total.detach(), loss.detach(), local)
    if pack.parameters:
        _descend(local, total, active)
    return loss.detach()


def _descend(local: LocalRound, total: Tensor, active: list[bool]) -> None:
    """Step along the gradient of ``total`` as the method corrects it; what it doesn't reach stays as it is."""
    pack, by_client = local.pack, local.cohort.by_client
    found = torch.autograd.grad(total, list(pack.parameters.values()), allow_unused=True)
    named = zip(pack.parameters, found, strict=True)
    gradients = {name: gradient.contiguous() for name, gradient in named if gradient is not None}
    with torch.no_grad():
        stepping = torch.tensor(active, device=total.device).view(len(local.cohort.cell.seeds), -1)
        corrected = local.method.corrected(by_client(gradients), stepping, pack.clients, local.memory)
        pack.optimiser.step({name: value.view_as(gradients[name]) for name, value in corrected.items()}, active)
        local.method.constrain(by_client(pack.parameters))


def _require_finite(total: Tensor, loss: Tensor, local: LocalRound) -> None:
    if bool(torch.isfinite(total)):
        return
    clients, seeds = local.pack.clients, local.cohort.cell.seeds
    bad = int(
        torch.isfinite(loss).int().argmin()
    )  # the first that is not finite; the first of all if only a penalty is
    seed, client = seeds[bad // len(clients)], clients[bad % len(clients)]
    raise TrainingError(
        f"train round {local.round}",
        found=f"a loss that is not finite: {float(loss[bad])} (seed {seed}, client {client}; all terms {float(total)})",
        allowed="finite losses",
        remedy="lower the learning rate or the method's penalty weights; no record was written",
    )
