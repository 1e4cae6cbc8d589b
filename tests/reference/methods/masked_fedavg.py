"""FedAvg with local masks."""

from __future__ import annotations

from tests.reference.plans import Plan, Settings, Shape, average, bare, everything, masked


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(lambda own: masked(own, bare(own), settings.mask_threshold), everything, average)
