"""Centralised: one client, who shares with nobody."""

from __future__ import annotations

from tests.reference.plans import Plan, Settings, Shape, nothing, plain


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(plain, nothing)
