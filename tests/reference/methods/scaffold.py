"""SCAFFOLD: every gradient is corrected by c - c_i; c_i is the last round's mean (or first) raw gradient."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.reference.plans import Plan, Settings, Shape, average, everything, plain

State = dict[str, Tensor]

TASKS = ("node", "graph")


def plan(settings: Settings, shape: Shape) -> Plan:
    server: State = {}
    own: dict[int, State] = {}
    seen: dict[int, list[State]] = {}

    def corrected(module: nn.Module, client: int, round: int, epoch: int) -> None:
        leaving = {name: p for name, p in module.named_parameters() if everything(name)}
        seen.setdefault(client, []).append({name: p.grad.clone() for name, p in leaving.items()})
        for name, p in leaving.items():
            if server:
                p.grad += server[name] - own[client][name]

    def combine(modules: list[nn.Module]) -> Tensor:
        for client in range(len(modules)):
            kept = seen[client] if settings.option == "II" else seen[client][:1]
            own[client] = {name: sum(raw[name] for raw in kept) / len(kept) for name in kept[0]}
        server.update({n: torch.stack([own[k][n] for k in own]).mean(0) for n in own[0]})
        seen.clear()
        return average(modules)

    return Plan(plain, everything, combine, corrected=corrected)
