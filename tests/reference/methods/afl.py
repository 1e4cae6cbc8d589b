"""AFL: averages by lambda, which climbs the losses; projected by bisection."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.reference.federation import Seen, loaded
from tests.reference.methods.q_fedavg import training_loss
from tests.reference.plans import Plan, Settings, Shape, everything, plain, sizes

TASKS = ("node", "graph")
CASES = ({"gamma": 0.5, "start": "train_nodes"}, {"gamma": 0.5, "evaluated": "mean"})


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
    models: list[dict[str, Tensor]] = []

    def before(seen: Seen) -> None:
        if not weights:
            size = sizes(settings.start, seen.graphs)
            weights.extend(s / sum(size) for s in size)
        losses[:] = [training_loss(m, g) for m, g in zip(seen.modules, seen.graphs, strict=True)]

    def combine(seen: Seen) -> Tensor:
        used = torch.tensor(weights, dtype=torch.float64)
        models.append({
            n: sum(w * dict(m.named_parameters())[n].detach() for w, m in zip(used, seen.modules, strict=True))
            for n in dict(seen.modules[0].named_parameters())
            if everything(n)
        })  # fmt: skip
        weights[:] = nearest([w + settings.gamma * f for w, f in zip(weights, losses, strict=True)])
        return used.expand(len(used), len(used))

    def means(modules: list[nn.Module]) -> list[nn.Module]:
        if settings.evaluated == "last" or not models:
            return modules
        mean = {n: sum(model[n] for model in models) / len(models) for n in models[0]}
        return [loaded(module, mean) for module in modules]

    return Plan(plain, everything, combine_seen=combine, before=before, evaluated=means)
