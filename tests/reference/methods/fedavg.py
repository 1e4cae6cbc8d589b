"""FedAvg: everything is averaged."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tests.reference.federation import Seen
from tests.reference.plans import Plan, Settings, Shape, everything, plain, sizes

TASKS = ("node", "graph")
CASES = ({"weights": "train_nodes"},)


def weighted(settings: Settings) -> Callable[[Seen], Tensor]:
    def combine(seen: Seen) -> Tensor:
        size = torch.tensor(sizes(getattr(settings, "weights", "uniform"), seen.graphs), dtype=torch.float64)
        return (size / size.sum()).expand(len(size), len(size))

    return combine


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(plain, everything, combine_seen=weighted(settings))
