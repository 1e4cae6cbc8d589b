"""FedAvg: everything is averaged."""

from __future__ import annotations

import torch
from torch import Tensor

from tests.reference.federation import Seen
from tests.reference.plans import Plan, Settings, Shape, everything, plain, sizes

TASKS = ("node", "graph")
CASES = ({"weights": "train_nodes"},)


def plan(settings: Settings, shape: Shape) -> Plan:
    def combine(seen: Seen) -> Tensor:
        size = torch.tensor(sizes(getattr(settings, "weights", "uniform"), seen.graphs), dtype=torch.float64)
        return (size / size.sum()).expand(len(size), len(size))

    return Plan(plain, everything, combine_seen=combine)
