"""FedPer: all but the readout is averaged."""

from __future__ import annotations

from tests.reference.methods.fedavg import weighted
from tests.reference.plans import Plan, Settings, Shape, everything, plain


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(plain, lambda name: everything(name) and "readout" not in name, combine_seen=weighted(settings))
