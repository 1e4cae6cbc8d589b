"""FedAvg: everything is averaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tests.reference.federation import Seen
from tests.reference.plans import Plan, Settings, Shape, everything, plain, sizes
from tests.reference.rec import RecTrace
from tests.tasks.rec.plain_federation import of_vectors, trained

TASKS = ("node", "graph", "rec")
CASES = ({"weights": "train_nodes"},)


def weighted(settings: Settings) -> Callable[[Seen], Tensor]:
    def combine(seen: Seen) -> Tensor:
        size = torch.tensor(sizes(getattr(settings, "weights", "uniform"), seen.graphs), dtype=torch.float64)
        return (size / size.sum()).expand(len(size), len(size))

    return combine


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(plain, everything, combine_seen=weighted(settings))


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    """Network weights over all clients, an item's row over those that have it."""
    clients = problem.client_data
    weights = {"uniform": [1.0] * len(clients), "train_nodes": [float(c.train.shape[1]) for c in clients]}
    choices = {
        "shared": lambda name: not name.startswith(("user", "item")),
        "weights": weights[method.settings.weights],
    }
    return trained(of_vectors(method, clients, **choices), method, problem, seed)
