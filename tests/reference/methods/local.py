"""Local: nobody shares."""

from __future__ import annotations

from tests.reference.plans import Plan, Settings, Shape, nothing, plain

TASKS = ("node", "graph")


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(plain, nothing)
