"""AFL by hand, its projection, and its limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.run import describe, run
from fedbench.methods._simplex import projected
from fedbench.methods.exchange import Exchange
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.match import SMALL, series
from tests.reference.methods.afl import nearest
from tests.tasks.toy_graphs import toy_graphs
from tests.toys import toy_problem

DOUBLE = Place(torch.float64)
ROW = st.lists(st.floats(-3, 3), min_size=1, max_size=8)


def test_two_rounds_by_hand() -> None:
    """Losses 1, 2, 0 and gamma 0.3: a third each; then 0.9 too much, taken off evenly; then a client falls out."""
    method = build("afl", {"gamma": 0.3}, TrainingSettings())
    cell = describe(toy_problem(), method, (0,), DOUBLE)
    memory = method.memory(cell, [], {})
    uploads = {"training_loss": torch.tensor([[1.0, 2.0, 0.0]], dtype=torch.float64)}
    expected = [(1 / 3, 1 / 3, 1 / 3), (1 / 3, 1 / 3 + 0.3, 1 / 3 - 0.3), (0.2, 0.8, 0.0)]
    for round, row in enumerate(expected, 1):
        weights = method.mixing(uploads, Exchange(cell, round, memory, {}))
        assert torch.allclose(weights, torch.tensor(row, dtype=torch.float64).expand(1, 3, 3))


@given(ROW)
def test_the_projection_is_the_nearest_point_of_the_simplex(point: list[float]) -> None:
    found = projected(torch.tensor([point], dtype=torch.float64))[0]
    assert found.min() >= 0
    assert float(found.sum()) == pytest.approx(1)
    assert found.tolist() == pytest.approx(nearest(point), abs=1e-9)
    other = torch.rand(50, len(point), dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    others = other / other.sum(1, keepdim=True)
    at = torch.tensor(point, dtype=torch.float64)
    assert (others - at).norm(dim=1).min() >= (found - at).norm() - 1e-12


def test_every_row_is_projected_for_itself() -> None:
    rows = torch.tensor([[0.2, 0.8], [5.0, 0.0], [-1.0, -1.0]], dtype=torch.float64)
    assert projected(rows).tolist() == [pytest.approx([0.2, 0.8]), [1.0, 0.0], [0.5, 0.5]]


@pytest.mark.parametrize(("start", "weights"), [("uniform", "uniform"), ("train_nodes", "train_nodes")])
def test_without_steps_of_lambda_it_is_fedavg(start: str, weights: str) -> None:
    training = TrainingSettings.model_validate(SMALL["graph"] | {"rounds": 4})
    problem = toy_graphs(graphs=(15, 11, 19))
    ours = run(build("afl", {"gamma": 0.0, "start": start}, training), problem, (1,), DOUBLE)
    plain = run(build("fedavg", {"weights": weights}, training), problem, (1,), DOUBLE)
    for split, metric in (("train", "loss"), ("test", "accuracy")):
        assert np.allclose(series(ours.history, split, metric), series(plain.history, split, metric), atol=1e-12)


def test_large_steps_leave_one_client() -> None:
    """The trap: whose loss is highest, by its number of classes say, is soon the only one that counts."""
    training = TrainingSettings.model_validate(SMALL["node"] | {"rounds": 1})
    history = run(build("afl", {"gamma": 1e3}, training), toy_problem(), (0,), DOUBLE).history
    losses, weights = series(history, "none", "training_loss")[0], series(history, "none", "lambda")[0]
    assert weights.tolist() == np.eye(3)[losses.argmax()].tolist()


def test_each_seed_has_its_own_lambda() -> None:
    training: Any = TrainingSettings.model_validate(SMALL["node"] | {"rounds": 3})
    method = build("afl", {"gamma": 0.5}, training)
    both, one = (run(method, toy_problem(), seeds, DOUBLE).history for seeds in ((2, 5), (5,)))
    assert np.allclose(series(both, "none", "lambda")[:, 3:], series(one, "none", "lambda"), atol=1e-12)
    assert not np.allclose(series(both, "none", "lambda")[-1, :3], series(both, "none", "lambda")[-1, 3:])
