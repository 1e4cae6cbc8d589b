"""q-FedAvg: the released code's loop: gradients of clients, scaled by powers of their losses, and one dynamic step."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.reference.federation import Client, Seen, State
from tests.reference.plans import Plan, Settings, Shape, everything, plain

TASKS = ("node", "graph")
CASES = ({"q": 1.0, "lipschitz": 3.0}, {"q": 0.0})


def training_loss(module: nn.Module, client: Client) -> float:
    """Return the loss over all training rows, without dropout."""
    module.eval()
    whole = client.whole()
    with torch.no_grad():
        logits = module(*whole.inputs)[whole.counts]
    return float(nn.functional.cross_entropy(logits, whole.y[whole.counts]))


def plan(settings: Settings, shape: Shape) -> Plan:
    scale = settings.lipschitz or 1 / shape["training"].learning_rate
    losses: list[float] = []

    def before(seen: Seen) -> None:
        losses[:] = [training_loss(m, g) + 1e-10 for m, g in zip(seen.modules, seen.graphs, strict=True)]

    def states(seen: Seen) -> list[State]:
        deltas, bounds = [], []
        for loss, module, received in zip(losses, seen.modules, seen.received, strict=True):
            own = dict(module.named_parameters())
            gradient = {n: scale * (w - own[n].detach()) for n, w in received.items()}
            square = sum(float((g.double() ** 2).sum()) for g in gradient.values())
            deltas.append({n: loss**settings.q * g for n, g in gradient.items()})
            bounds.append(settings.q * loss ** (settings.q - 1) * square + scale * loss**settings.q)
        new = {n: w - total(deltas, n) / sum(bounds) for n, w in seen.received[0].items()}
        return [new] * len(deltas)

    return Plan(plain, everything, states=states, before=before)


def total(deltas: list[State], name: str) -> Tensor:
    return sum(delta[name] for delta in deltas)
