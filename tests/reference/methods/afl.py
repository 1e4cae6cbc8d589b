"""AFL: averages by lambda, which climbs the losses; projected by bisection."""

from __future__ import annotations

import torch
from torch import Tensor

from tests.reference.federation import Seen
from tests.reference.methods.q_fedavg import training_loss
from tests.reference.plans import Plan, Settings, Shape, everything, plain, sizes

TASKS = ("node", "graph")
CASES = ({"gamma": 0.5, "start": "train_nodes"},)


def nearest(point: list[float]) -> list[float]:
    """Return the point of the simplex that is nearest: everything lowered by the same, by as much as it takes."""
    low, high = min(point) - 1, max(point)
    for _ in range(200):
        middle = (low + high) / 2
        if sum(max(x - middle, 0) for x in point) > 1:
            low = middle
        else:
            high = middle
    return [max(x - high, 0) for x in point]


def plan(settings: Settings, shape: Shape) -> Plan:
    weights: list[float] = []
    losses: list[float] = []

    def before(seen: Seen) -> None:
        if not weights:
            size = sizes(settings.start, seen.graphs)
            weights.extend(s / sum(size) for s in size)
        losses[:] = [training_loss(m, g) for m, g in zip(seen.modules, seen.graphs, strict=True)]

    def combine(seen: Seen) -> Tensor:
        used = torch.tensor(weights, dtype=torch.float64)
        weights[:] = nearest([w + settings.gamma * f for w, f in zip(weights, losses, strict=True)])
        return used.expand(len(used), len(used))

    return Plan(plain, everything, combine_seen=combine, before=before)
