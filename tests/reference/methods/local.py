"""Local: nobody shares."""

from __future__ import annotations

from typing import Any

from tests.reference.plans import Plan, Settings, Shape, nothing, plain
from tests.reference.rec import RecTrace
from tests.tasks.rec.plain_federation import of_vectors, trained

TASKS = ("node", "graph", "rec")


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(plain, nothing)


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    return trained(of_vectors(method, problem.client_data, shared=nothing, rows=False), method, problem, seed)
