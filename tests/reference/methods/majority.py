"""Majority class: nothing is trained; the plain program counts."""

from __future__ import annotations

import torch

from tests.reference.clients import Client
from tests.reference.federation import Plan, Trace
from tests.reference.plans import Settings, Shape, nothing

TASKS = ("node", "graph")


def plan(settings: Settings, shape: Shape) -> Plan:
    return Plan(lambda own: torch.nn.Module(), nothing, instead=count)


def count(graphs: list[Client], rounds: int) -> Trace:
    trace = Trace()
    for split, code in (("val", 1), ("test", 2)):
        row = []
        for graph in graphs:
            top = torch.bincount(graph.y[graph.split == 0]).argmax()
            row.append(float((graph.y[graph.split == code] == top).double().mean()))
        trace.accuracy[split] = [row] * rounds
    return trace
