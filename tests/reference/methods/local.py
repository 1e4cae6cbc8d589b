"""Local: nobody shares."""

from __future__ import annotations

from tests.reference.plans import Plan, Settings, Shape, nothing, plain


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(lambda: plain(shape), nothing)
