"""The two phases of a client's training: all of NeighGen locally, then fGen alone against the other clients."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from fedbench.errors import TrainingError
from fedbench.neighgen.cross_client import Others
from fedbench.neighgen.draws import Draws, Phase
from fedbench.neighgen.losses import Fixed, Losses, federated_losses, local_losses
from fedbench.neighgen.network import NeighGen
from fedbench.neighgen.problem import Problem
from fedbench.neighgen.settings import NeighGenSettings

Draw = Callable[[Phase, int], Draws]
History = list[dict[str, float]]


def train_locally(net: NeighGen, problem: Problem, draw: Draw) -> History:
    """Train encoder, dGen, fGen and classifier; return the losses by epoch."""
    own = problem.settings
    frozen = () if own.train_convolutions else ("encoder.", "classifier.")
    trained = _train_only(net, lambda name: not name.startswith(frozen))
    step = lambda epoch: local_losses(net, problem, draw(Phase.LOCAL, epoch))  # noqa: E731
    return _epochs(trained, own, own.generator_epochs, step)


def train_federated(net: NeighGen, problem: Problem, others: Others, clients: int, draw: Draw) -> tuple[History, int]:
    """Train fGen alone, against the other clients of ``clients`` in all.

    Returns:
        The losses by epoch, and the number of nodes whose z the other clients need: those with generated neighbours.
    """
    own = problem.settings
    trained = _train_only(net, lambda name: name.startswith("generator."))
    fixed = Fixed.of(net, problem)
    step = lambda epoch: federated_losses(  # noqa: E731
        net, problem, fixed, others, clients, draw(Phase.FEDERATED, epoch)
    )
    return _epochs(trained, own, own.federated_epochs, step), len(fixed.z)


def _train_only(net: NeighGen, chosen: Callable[[str], bool]) -> list[Tensor]:
    for name, parameter in net.parameters.items():
        parameter.requires_grad_(chosen(name))
    return [parameter for name, parameter in net.parameters.items() if chosen(name)]


def _epochs(trained: list[Tensor], own: NeighGenSettings, epochs: int, step: Callable[[int], Losses]) -> History:
    """Take full-batch Adam steps with a new optimiser."""
    adam = torch.optim.Adam(trained, lr=own.learning_rate, weight_decay=own.weight_decay, fused=True)
    history = []
    for epoch in range(epochs):
        losses = step(epoch)
        torch.stack(list(losses.values())).sum().backward()
        adam.step()
        adam.zero_grad()
        history.append(_finite({name: loss.item() for name, loss in losses.items()}, epoch))
    return history


def _finite(losses: dict[str, float], epoch: int) -> dict[str, float]:
    if not all(abs(value) < float("inf") for value in losses.values()):
        raise TrainingError("train NeighGen", found=f"{losses} in epoch {epoch + 1}", allowed="finite losses")
    return losses
