"""Constant self-weight."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.reference.plans import Plan, Settings, Shape, everything, plain

TASKS = ("node", "graph")


def plan(settings: Settings, shape: Shape) -> Plan:
    def combine(modules: list[nn.Module]) -> Tensor:
        k = len(modules)
        own = torch.eye(k, dtype=torch.float64)
        return settings.self_weight * own + (1 - settings.self_weight) / (k - 1) * (1 - own)

    return Plan(plain, everything, combine)
