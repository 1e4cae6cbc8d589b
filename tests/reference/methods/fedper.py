"""FedPer: all but the readout is averaged."""

from __future__ import annotations

from tests.reference.plans import Plan, Settings, Shape, average, everything, plain

TASKS = ("node", "graph")


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(plain, lambda name: everything(name) and "readout" not in name, average)
