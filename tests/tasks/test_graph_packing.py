"""Clients of unlike widths, alone and padded in one pack: the same numbers for every method of graph classification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import Outcome, describe, run
from fedbench.methods.base import Method
from fedbench.methods.registry import build
from fedbench.tasks.graph.arrays import GraphProblem
from fedbench.tasks.graph.block import GraphBlock
from fedbench.tasks.task import Place
from tests.reference.match import SMALL, Case, cases, method_of
from tests.tasks.toy_graphs import toy_graphs

DOUBLE = Place(torch.float64)
UNEVEN = SMALL["graph"] | {"rounds": 3, "local_epochs": 2}


def unlike() -> GraphProblem:
    """Return clients of other widths, classes and numbers of batches."""
    return toy_graphs(graphs=(20, 11, 15))


def both(problem: GraphProblem, method: Method[Any]) -> tuple[Outcome, Outcome]:
    """Return seed 2 alone, its clients one after another, and beside seed 5, all clients in one pack."""
    return run(method, problem, (2,), DOUBLE), run(method, problem, (2, 5), DOUBLE)


def require_alike(alone: Outcome, together: Outcome) -> None:
    for entry, other in zip(alone.history.entries, together.history.entries, strict=True):
        assert entry[:3] == other[:3]
        assert np.allclose(entry[3], other[3][: len(entry[3])], atol=1e-8, rtol=0, equal_nan=True), entry[:3]


@pytest.mark.parametrize("case", cases("graph"), ids=lambda case: f"{case[0]}/{case[1]}-{case[2]}")
def test_a_method_computes_unlike_clients_alone_or_together_alike(case: Case) -> None:
    name, variant, settings = case
    alone, together = both(unlike(), method_of(name, variant, UNEVEN, settings))
    require_alike(alone, together)
    assert alone.steps == together.steps[:1]
    for cost in ("bytes_up", "bytes_down", "parameters"):
        assert getattr(alone, cost) == getattr(together, cost)


def test_padded_parameters_stay_zero() -> None:
    problem, method = unlike(), build("fedavg", {}, method_of("fedavg", "train_nodes", UNEVEN).training)
    cell = describe(problem, method, (2, 5), DOUBLE)
    cohort = start_cohort(cell, method, problem, [problem.client_data] * 2)
    (pack,) = cohort.packs
    assert pack.clients == range(3)
    step = next(cohort.task.steps(pack.block, method.training, pack.members, 1, 0))
    logits = pack.network.forward(pack.parameters, step.block, None)
    step.block.loss(logits).sum().backward()
    shapes = problem.shapes * 2
    for name, axis, own in (
        ("input.weight", 0, [shape.features for shape in shapes]),
        ("classifier.weight", 0, [shape.classes for shape in shapes]),
        ("classifier.bias", 0, [shape.classes for shape in shapes]),
    ):
        stack = pack.parameters[name]
        assert stack.grad is not None
        for place, size in enumerate(own):
            for part in (stack.detach()[place], stack.grad[place]):
                assert part.narrow(axis, 0, size).any()
                assert not part.narrow(axis, size, part.shape[axis] - size).any()


def test_a_class_that_a_client_has_not_never_wins() -> None:
    problem = toy_graphs(classes=(2, 3, 1))
    block = GraphBlock(problem.client_data, DOUBLE)
    batch = block.batch([np.arange(5)] * 3)
    logits = torch.zeros(3, 5, 3, dtype=torch.float64)
    logits[..., 2] = 7.0
    assert batch.among_own(logits).argmax(2)[:, 0].tolist() == [0, 2, 0]
    assert batch.loss(logits)[2] == 0
    alike = GraphBlock(problem.client_data[:1] * 2, DOUBLE)
    assert alike.absent is None
