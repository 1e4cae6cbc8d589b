"""A round's local training: every client's own steps, all clients in one backward pass.

Gradients don't cross the blocks of a block-diagonal graph, so the gradient of the sum of the clients' losses is each
client's own gradient.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fedbench.engine.cohort import Cohort
from fedbench.errors import TrainingError
from fedbench.methods.base import Method


def train_locally(method: Method[Any], cohort: Cohort, received: dict[str, Tensor], round: int) -> Tensor:
    """Take every client's local steps of one round; return the loss of each client's last one, [S * K].

    Args:
        method: gives the penalty and the number of local epochs.
        cohort: parameters are updated in place.
        received: shared parameters at the start of the round, [S, K, ...].
        round: communication round, from 1.

    Raises:
        TrainingError: a loss is not finite.
    """
    epochs = method.local_epochs(round, cohort.cell).flatten()
    last = torch.full((len(cohort.block.sizes),), float("nan"), dtype=cohort.cell.dtype, device=cohort.cell.device)
    for epoch in range(int(epochs.max())):
        active = (epochs > epoch).tolist()
        loss = _step(method, cohort, received, round, epoch, active)
        last = loss if all(active) else torch.where(torch.tensor(active, device=loss.device), loss, last)
    return last


def _step(
    method: Method[Any], cohort: Cohort, received: dict[str, Tensor], round: int, epoch: int, active: list[bool]
) -> Tensor:
    dropout = cohort.dropout_stream(round, epoch)
    loss = cohort.block.loss(cohort.network.forward(cohort.parameters, cohort.block, dropout))
    total = loss.sum()
    penalty = method.penalty(cohort.by_client(), received, round)
    if penalty is not None:
        total = total + penalty.sum()
    _require_finite(total, loss, cohort, round)
    if cohort.parameters:
        gradients = torch.autograd.grad(total, list(cohort.parameters.values()))
        with torch.no_grad():
            cohort.optimiser.step([gradient.contiguous() for gradient in gradients], active)
    return loss.detach()


def _require_finite(total: Tensor, loss: Tensor, cohort: Cohort, round: int) -> None:
    if bool(torch.isfinite(total)):
        return
    bad = int((~torch.isfinite(loss)).nonzero()[0]) if not bool(torch.isfinite(loss).all()) else 0
    seed, client = cohort.cell.seeds[bad // cohort.cell.clients], bad % cohort.cell.clients
    raise TrainingError(
        f"train round {round}",
        found=f"a loss that is not finite: {float(loss[bad].detach())} (seed {seed}, client {client}; all terms {float(total.detach())})",
        allowed="finite losses",
        remedy="lower the learning rate or the method's penalty weights; no record was written",
    )
