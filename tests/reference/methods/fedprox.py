"""FedProx: FedAvg, and a proximal term in the loss."""

from __future__ import annotations

from torch import Tensor, nn

from tests.reference.federation import State
from tests.reference.methods.fedavg import weighted
from tests.reference.plans import Plan, Settings, Shape, everything, plain

TASKS = ("node", "graph")


def plan(settings: Settings, shape: Shape) -> Plan:
    def penalty(module: nn.Module, received: State, round: int) -> Tensor:
        own = dict(module.named_parameters())
        return settings.mu / 2 * sum(((own[n] - received[n]) ** 2).sum() for n in received)

    return Plan(plain, everything, penalty=penalty, combine_seen=weighted(settings))
