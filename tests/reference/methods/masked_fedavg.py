"""FedAvg with local masks."""

from __future__ import annotations

from tests.reference.networks import Masked
from tests.reference.plans import Plan, Settings, Shape, average, no_masks, plain


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(lambda: Masked(plain(shape), settings.mask_threshold), no_masks, average)
