"""q-FedAvg by hand, its losses, and what its step size does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.run import describe, run
from fedbench.engine.server import server_step
from fedbench.methods.exchange import Exchange
from fedbench.methods.q_fedavg import QFedAvg
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.match import SMALL, series
from tests.tasks.toy_graphs import toy_graphs
from tests.toys import toy_problem

DOUBLE = Place(torch.float64)
PROBLEMS: dict[str, Any] = {"node": toy_problem, "graph": toy_graphs}


def stepped(settings: dict[str, Any], sent: list[float], losses: list[float]) -> tuple[list[float], QFedAvg, Any]:
    """Return every client's parameter after a server step; all had received 1."""
    method = build("q_fedavg", settings, TrainingSettings())
    assert isinstance(method, QFedAvg)
    received = {"w": torch.ones(1, 3, 1, dtype=torch.float64)}
    exchange = Exchange(describe(toy_problem(), method, (0,), DOUBLE), 1, None, received)
    shared = {"w": torch.tensor(sent, dtype=torch.float64).view(1, 3, 1)}
    signals = {"training_loss": torch.tensor([losses], dtype=torch.float64)}
    step = server_step(method, shared, signals, exchange, {})
    return shared["w"].flatten().tolist(), method, step


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        # L = 2, so Delta = 2, 1, -2, and with q = 1 h = 4 + 2, 1 + 8, 4 + 0.5
        (1.0, 1 - (1 * 2 + 4 * 1 - 0.25 * 2) / (6 + 9 + 4.5)),
        # h = 2 * 1 * 4 + 2, 2 * 4 * 1 + 32, 2 * 0.25 * 4 + 0.125
        (2.0, 1 - (1 * 2 + 16 * 1 - 0.0625 * 2) / (10 + 40 + 2.125)),
        # h = L: the mean of 0, 0.5 and 2
        (0.0, 2.5 / 3),
    ],
)
def test_a_server_step_by_hand(q: float, expected: float) -> None:
    found, _, step = stepped({"q": q, "lipschitz": 2.0}, [0.0, 0.5, 2.0], [1.0, 4.0, 0.25])
    assert found == pytest.approx([expected] * 3)
    assert (step.traffic.up, step.traffic.down) == (3 * 4 * 2, 3 * 4)  # a parameter and a loss up, a parameter down


def test_a_loss_of_zero_is_no_division_by_zero() -> None:
    found, _, _ = stepped({"q": 0.5, "lipschitz": 2.0}, [0.0, 0.5, 2.0], [0.0, 4.0, 1.0])
    assert np.isfinite(found).all()


@given(st.floats(0.1, 5), st.lists(st.floats(0.05, 5), min_size=3, max_size=3))
def test_after_equal_steps_a_higher_loss_counts_more(q: float, losses: list[float]) -> None:
    _, _, step = stepped({"q": q}, [0.9, 0.9, 0.9], losses)
    share = step.diagnostics["share"].flatten()
    order = torch.tensor(losses).argsort()
    assert bool((share[order].diff() >= -1e-12).all())
    assert 0 < float(share.sum()) <= 1


def test_the_inverse_step_size_is_the_learning_rates() -> None:
    method = build("q_fedavg", {}, TrainingSettings(learning_rate=0.02))
    assert isinstance(method, QFedAvg)
    assert method.lipschitz == pytest.approx(50)


@pytest.mark.parametrize("task", ["node", "graph"])
def test_q_0_is_the_uniform_average(task: str) -> None:
    training = TrainingSettings.model_validate(SMALL[task] | {"rounds": 4})
    ours, plain = (
        run(build(name, settings, training), PROBLEMS[task](), (1,), DOUBLE)
        for name, settings in (("q_fedavg", {"q": 0.0}), ("fedavg", {}))
    )
    assert np.allclose(series(ours.history, "train", "loss"), series(plain.history, "train", "loss"), atol=1e-9, rtol=0)


@pytest.mark.parametrize("task", ["node", "graph"])
@pytest.mark.parametrize("name", ["q_fedavg", "afl"])
def test_the_loss_sent_is_that_of_all_training_data_at_the_received_model(task: str, name: str) -> None:
    """Without dropout and with all data in one step, it is the loss that the step itself has; else it isn't."""
    values = SMALL[task] | {"rounds": 3, "batch_size": None}
    without = values | {"model": values["model"] | {"dropout": 0.0}}
    for changed, equal in ((without, True), (values, False)):
        method = build(name, {}, TrainingSettings.model_validate(changed))
        history = run(method, PROBLEMS[task](), (1,), DOUBLE).history
        sent, taken = series(history, "none", "training_loss"), series(history, "train", "loss")
        assert np.allclose(sent, taken, atol=1e-9, rtol=0) == equal


def test_under_adam_the_papers_step_size_hardly_moves_the_server() -> None:
    """||Delta||^2 grows with L^2, and Adam's steps are far longer than learning rate times gradient."""
    wide = SMALL["graph"]["model"] | {"width": 64}
    training = TrainingSettings.model_validate(SMALL["graph"] | {"rounds": 1, "learning_rate": 1e-3, "model": wide})
    moved = {}
    for scale in (None, 1.0):
        method = build("q_fedavg", {"q": 1.0, "lipschitz": scale}, training)
        moved[scale] = series(run(method, toy_graphs(), (0,), DOUBLE).history, "none", "share").sum()
    assert moved[None] < 0.05
    assert moved[1.0] > 0.9
