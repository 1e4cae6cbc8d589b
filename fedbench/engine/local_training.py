"""A round's local training: every client's own steps, all clients of a pack in one backward pass.

Gradients don't cross the blocks of a block-diagonal graph, so the gradient of the sum of the clients' losses is each
client's own gradient.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fedbench.engine.cohort import Cohort, Pack
from fedbench.errors import TrainingError
from fedbench.methods.base import Method


def train_locally(method: Method[Any], cohort: Cohort, pack: Pack, round: int) -> Tensor:
    """Take the local steps of a pack's clients in one round; return the loss of each one's last step, [S * k].

    Args:
        method: gives the penalty and the number of local epochs.
        cohort: the cell.
        pack: its parameters are updated in place.
        round: communication round, from 1.

    Raises:
        TrainingError: a loss is not finite.
    """
    received = _received(method, cohort, pack)
    epochs = method.local_epochs(round, cohort.cell)[:, pack.clients.start : pack.clients.stop].flatten()
    last = torch.full((len(epochs),), float("nan"), dtype=cohort.cell.dtype, device=cohort.cell.device)
    for epoch in range(int(epochs.max())):
        active = (epochs > epoch).tolist()
        loss = _step(method, cohort, pack, received, round, epoch, active)
        last = loss if all(active) else torch.where(torch.tensor(active, device=loss.device), loss, last)
    return last


def _received(method: Method[Any], cohort: Cohort, pack: Pack) -> dict[str, Tensor]:
    """Return a copy of the shared parameters, if the method's penalty compares with it."""
    if not method.anchored:
        return {}
    shared = {name: stack.detach().clone() for name, stack in pack.parameters.items() if method.shares(name)}
    return cohort.by_client(shared)


def _step(
    method: Method[Any],
    cohort: Cohort,
    pack: Pack,
    received: dict[str, Tensor],
    round: int,
    epoch: int,
    active: list[bool],
) -> Tensor:
    dropout = cohort.dropout_stream(pack, round, epoch)
    loss = pack.block.loss(cohort.network.forward(pack.parameters, pack.block, dropout))
    total = loss.sum()
    penalty = method.penalty(cohort.by_client(pack.parameters), received, round)
    if penalty is not None:
        total = total + penalty.sum()
    _require_finite(total.detach(), loss.detach(), cohort, pack, round)
    if pack.parameters:
        gradients = torch.autograd.grad(total, list(pack.parameters.values()))
        with torch.no_grad():
            pack.optimiser.step([gradient.contiguous() for gradient in gradients], active)
    return loss.detach()


def _require_finite(total: Tensor, loss: Tensor, cohort: Cohort, pack: Pack, round: int) -> None:
    if bool(torch.isfinite(total)):
        return
    bad = int(
        torch.isfinite(loss).int().argmin()
    )  # the first that is not finite; the first of all if only a penalty is
    seed, client = cohort.cell.seeds[bad // len(pack.clients)], pack.clients[bad % len(pack.clients)]
    raise TrainingError(
        f"train round {round}",
        found=f"a loss that is not finite: {float(loss[bad])} (seed {seed}, client {client}; all terms {float(total)})",
        allowed="finite losses",
        remedy="lower the learning rate or the method's penalty weights; no record was written",
    )
