"""What runs on a GPU alone must at least begin on a CPU: the problems, and every method that is compared."""

from __future__ import annotations

import pytest
import torch

from benchmarks.gpu_check import SMALL, TOLERANCE, largest_gap, method_of, variants
from benchmarks.random_graphs import random_graphs


@pytest.mark.parametrize("task", ["node", "graph"])
def test_every_variant_that_is_compared_can_be_built(task: str) -> None:
    assert len({name for name, _ in variants(task)}) > 10
    for name in variants(task):
        assert method_of(name, SMALL[task] | {"rounds": 2}).training.rounds == 2


def test_clients_of_unlike_widths_are_packed_and_agree() -> None:
    """Several seeds are one padded pack on a CPU too."""
    problem = random_graphs((10, 6), 5)
    assert len(set(problem.shapes)) == 2
    method = method_of(("fedavg", "four-epochs"), SMALL["graph"] | {"rounds": 2})
    assert largest_gap(method, problem, torch.device("cpu")) <= TOLERANCE["graph"]
