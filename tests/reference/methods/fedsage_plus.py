"""FedSage+: GraphSAGE models on the mended graphs, everything averaged or nothing."""

from __future__ import annotations

from tests.reference.plans import Plan, Settings, Shape, average, everything, nothing, plain

SMALL = {"neighgen": {"generator_widths": [8, 16], "generator_epochs": 2, "federated_epochs": 2}}


def plan(settings: Settings, shape: Shape) -> Plan:
    if settings.share:
        return Plan(plain, everything, average)
    return Plan(plain, nothing)
