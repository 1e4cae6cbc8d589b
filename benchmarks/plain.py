"""The plain reference program of the tests as the other side of a comparison.

Its networks, local step, dropout masks and mixing weights are the tests' own. Two of its steps are written there to be
read, with a Python loop over nodes and over pairs of clients; so that they don't count against it, this module gives it
an evaluation and an averaging step as a plain program for users would have them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from fedbench.engine.run import run
from fedbench.methods.base import Method
from fedbench.tasks.node.arrays import NodeProblem
from fedbench.tasks.task import Place, Problem
from tests.reference import federation
from tests.reference.match import run_plain


def evaluate(modules: list[nn.Module], graphs: list[Any], trace: Any, clients: int) -> None:
    """Validation and test accuracy of each client from one forward pass."""
    correct = [_correct(module, graph) for module, graph in zip(modules, graphs, strict=True)]
    for split, code in (("val", 1), ("test", 2)):
        row = [float(right[graph.split == code].double().mean()) for right, graph in zip(correct, graphs, strict=True)]
        trace.accuracy[split].append(row)


def _correct(module: nn.Module, graph: Any) -> Tensor:
    module.eval()
    with torch.no_grad():
        answer: Tensor = module(graph.x, graph.edges).argmax(1)
    return answer == graph.y


def combine(plan: federation.Plan, seen: federation.Seen) -> None:
    """Replace the shared parameters of all clients by W times the stack of them."""
    assert plan.combine_seen is not None or plan.combine is not None
    weights = (plan.combine_seen(seen) if plan.combine_seen else plan.combine(seen.modules)).float()
    with torch.no_grad():
        for named in zip(*(module.named_parameters() for module in seen.modules), strict=True):
            _mix(weights, [parameter for name, parameter in named if plan.shared(name)])


def _mix(weights: Tensor, parameters: list[nn.Parameter]) -> None:
    if parameters:
        mixed = weights @ torch.stack([parameter.flatten() for parameter in parameters])
        for parameter, value in zip(parameters, mixed, strict=True):
            parameter.copy_(value.view_as(parameter))


@contextmanager
def timed_rounds() -> Iterator[list[float]]:
    """Run the reference with the steps above; yield the CPU times at which rounds end."""
    ends: list[float] = []

    def last_step(plan: federation.Plan, seen: federation.Seen) -> None:
        combine(plan, seen)
        ends.append(time.process_time())

    with patch.object(federation, "_evaluate", evaluate), patch.object(federation, "_server", last_step):
        yield ends


def plain_rounds(method: Method[Any], name: str, problem: NodeProblem) -> list[float]:
    """Return the CPU milliseconds of each round but the first, one client after another."""
    with timed_rounds() as ends:
        run_plain(method, name, problem, 0, Place())
    return _milliseconds(ends)


def engine_rounds(method: Method[Any], problem: Problem) -> list[float]:
    """Return the CPU milliseconds of each round but the first in the engine."""
    ends: list[float] = []
    run(method, problem, (0,), Place(), lambda *_: ends.append(time.process_time()))
    return _milliseconds(ends)


def _milliseconds(ends: list[float]) -> list[float]:
    return [1000 * (end - begin) for begin, end in pairwise(ends)]
