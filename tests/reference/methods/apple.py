"""APPLE: a module holds its own core and everybody's as they were downloaded, and adds them up in every pass."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.func import functional_call

from tests.reference.federation import Seen, State
from tests.reference.names import suite_name
from tests.reference.plans import Plan, Settings, Shape, everything, plain

TASKS = ("node", "graph")
CASES = (
    {"schedule": "cosine", "scheduled": 0.8, "relationship_rate": 0.05, "mu": 2.0},
    {"scheduled": 0.5, "relationship_rate": 0.05, "momentum": 0.0},
)


class Personal(nn.Module):
    """``cores``: of all clients, its own one included, which is replaced by what it is training."""

    cores: list[State]
    start: list[float]

    def __init__(self, inner: nn.Module, me: int, clients: int) -> None:
        super().__init__()
        self.inner, self.me = inner, me
        self.shift = nn.Parameter(torch.zeros(clients))

    @staticmethod
    def suite_name(name: str) -> str:
        return "apple.shift" if name == "shift" else suite_name(name)

    def forward(self, *inputs: object) -> Tensor:
        weights = {}
        for name, own in self.inner.named_parameters():
            cores = [own if j == self.me else c.get(name) for j, c in enumerate(self.cores)]
            parts = [(self.start[j] + self.shift[j]) * core for j, core in enumerate(cores) if everything(name)]
            weights[name] = sum(parts) if parts else own
        return functional_call(self.inner, weights, inputs)


def core_of(module: Personal) -> State:
    return {name: p.detach().clone() for name, p in module.inner.named_parameters() if everything(name)}


def plan(settings: Settings, shape: Shape) -> Plan:
    clients = shape["problem"].clients
    made: list[Personal] = []
    velocity: dict[int, Tensor] = {}

    def make(own: Shape) -> Personal:
        made.append(Personal(plain(own), own["client"], clients))
        return made[-1]

    def before(seen: Seen) -> None:
        share(seen)
        sizes = [int((graph.split == 0).sum()) for graph in seen.graphs]
        for module in made:
            module.start = [size / sum(sizes) for size in sizes]
        velocity.clear()

    def share(seen: Seen) -> None:
        for module in made:
            module.cores = [core_of(other) for other in seen.modules]

    def strength(round: int) -> float:
        until, passed = int(shape["rounds"] * settings.scheduled), round - 1
        if passed >= until:
            return 0.0
        if settings.schedule == "cosine":
            return settings.mu * (math.cos(math.pi / until * passed) + 1) / 2
        return settings.mu * 0.001 ** (passed / until)

    def penalty(module: Personal, received: State, round: int) -> Tensor:
        return strength(round) * (module.shift**2).sum()

    def corrected(module: Personal, client: int, round: int, number: int) -> None:
        velocity[client] = settings.momentum * velocity.get(client, 0.0) + module.shift.grad
        module.shift.data -= settings.relationship_rate * velocity[client]
        module.shift.grad = None

    def combine(seen: Seen) -> Tensor:
        share(seen)
        return torch.eye(clients, dtype=torch.float64)

    def shared(name: str) -> bool:
        return name.startswith("inner.") and everything(name.removeprefix("inner."))

    return Plan(make, shared, combine_seen=combine, before=before, penalty=penalty, corrected=corrected)
