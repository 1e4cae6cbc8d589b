"""APPLE's state by hand, its schedule, and the runs that it must equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.run import run
from fedbench.errors import ConfigurationError
from fedbench.methods._cores import Cores
from fedbench.methods.apple import APPLE, SHIFT
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.match import SMALL, series
from tests.tasks.toy_graphs import toy_graphs
from tests.toys import toy_problem

DOUBLE = Place(torch.float64)
STILL = 1e-300


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def two_cores() -> Cores:
    """One number each: cores 1 and 2, p^0 = (1/4, 3/4)."""
    return Cores.of({"w": numbers(1, 2).view(1, 2, 1)}, numbers(0.25, 0.75))


def test_a_clients_model_and_its_gradients_by_hand() -> None:
    """Client 1, whose core has become 4 while the server's copy is 2: w = 0.25 * 1 + 0.75 * 4."""
    own = {"w": numbers(4).view(1, 1).requires_grad_(), SHIFT: torch.zeros(1, 2, dtype=torch.float64).requires_grad_()}
    model = two_cores().model(own, range(1, 2))["w"]
    assert model.item() == pytest.approx(3.25)
    model.sum().backward()
    assert own["w"].grad.tolist() == [[0.75]]  # p_kk, the other core is not trained
    assert own[SHIFT].grad.tolist() == [[1.0, 4.0]]  # by p_kj: core j as the client has it


def test_the_descent_of_p_by_hand() -> None:
    """Gradient 1 twice, rate 0.1, momentum 0.9: 0.1, then 0.19 more; who takes no step stays, a new round forgets."""
    cores, ones = two_cores(), torch.ones(1, 2, 2, dtype=torch.float64)
    for active in ((True, True), (True, False)):
        cores.step(ones, torch.tensor([active]), range(2), 0.1, 0.9)
    assert cores.shift.flatten().tolist() == pytest.approx([-0.29, -0.29, -0.1, -0.1])
    assert cores.relationships[0, 0].tolist() == pytest.approx([-0.04, 0.46])  # no simplex: they may be negative
    cores.take_up({"w": torch.zeros(1, 2, 1, dtype=torch.float64)}, range(2))
    cores.step(ones[:, 1:], torch.tensor([[True]]), range(1, 2), 0.1, 0.9)
    assert cores.shift.flatten().tolist() == pytest.approx([-0.29, -0.29, -0.2, -0.2])


def test_a_round_of_cores_by_hand() -> None:
    cores, live = two_cores(), {"w": numbers(5, 6).view(1, 2, 1)}
    cores.take_up(live, range(2))
    assert live["w"].flatten().tolist() == [1, 2]
    live["w"][:] = numbers(3, 4).view(1, 2, 1)  # as trained
    cores.put_aside(live, range(2))
    assert live["w"].flatten().tolist() == [0.25 * 3 + 0.75 * 2, 0.25 * 1 + 0.75 * 4]
    weights = cores.upload(live)
    assert live["w"].flatten().tolist() == [3, 4]
    assert weights.tolist() == [[[0.25, 0.75], [0.25, 0.75]]]
    assert cores.sent["w"].flatten().tolist() == [3, 4]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, [0.4, 0.4 * 0.001**0.5, None, None]), ({"schedule": "cosine"}, [0.4, 0.2, None, None]),
     ({"scheduled": 0.0}, [None] * 4), ({"scheduled": 0.2, "mu": 1.0}, [4.0, 4 * 0.001**0.25, 4 * 0.001**0.5])],
)  # fmt: skip
def test_the_penalty_falls_to_zero(settings: dict[str, Any], expected: list[float | None]) -> None:
    method = build("apple", settings, TrainingSettings(rounds=20))
    local = {SHIFT: numbers(0.0, 2.0).view(1, 1, 2)}
    found = [method.penalty(local, {}, round) for round in range(1, len(expected) + 1)]
    assert [None if f is None else f.item() for f in found] == [
        None if e is None else pytest.approx(e) for e in expected
    ]


@pytest.mark.parametrize(("task", "problem"), [("node", toy_problem((20,))), ("graph", toy_graphs((4,), (3,)))])
def test_of_one_client_it_is_local_training(task: str, problem: Any) -> None:
    training = TrainingSettings.model_validate(SMALL[task] | {"rounds": 5})
    ours, alone = (
        run(build(name, settings, training), problem, (1,), DOUBLE)
        for name, settings in (("apple", {"relationship_rate": STILL}), ("local", {}))
    )
    for split, metric in (("train", "loss"), ("test", "accuracy")):
        assert np.allclose(series(ours.history, split, metric), series(alone.history, split, metric), atol=1e-9)
    assert ours.bytes_down == 0


@pytest.mark.parametrize("task", ["node", "graph"])
def test_relationships_move_away_from_the_sizes(task: str) -> None:
    problem = toy_problem() if task == "node" else toy_graphs(graphs=(15, 11, 19))
    training = TrainingSettings.model_validate(SMALL[task] | {"rounds": 3})
    sizes = problem.train_nodes_per_client / problem.train_nodes_per_client.sum()
    still, moving = (
        run(build("apple", {"relationship_rate": rate}, training), problem, (1,), DOUBLE) for rate in (STILL, 0.05)
    )
    assert np.allclose(series(still.history, "none", "self_weight"), sizes, atol=1e-12)
    assert np.allclose(still.mixing[3][0], np.tile(sizes, (3, 1)), atol=1e-12)
    assert (series(moving.history, "none", "moved")[-1] > 1e-3).all()
    assert not np.allclose(moving.mixing[3][0, 0], moving.mixing[3][0, 1])  # directed: each client has its own


def test_everybody_downloads_everybody_elses_core() -> None:
    training = TrainingSettings.model_validate(SMALL["graph"] | {"rounds": 2})
    ours, plain = (run(build(name, {}, training), toy_graphs(), (0,), DOUBLE) for name in ("apple", "fedavg"))
    assert (ours.bytes_up, ours.bytes_down) == (plain.bytes_up, 2 * plain.bytes_down)  # 2 others of 3 clients


def test_seeds_computed_together_are_those_computed_alone() -> None:
    training = TrainingSettings.model_validate(SMALL["node"] | {"rounds": 4, "local_epochs": 2})
    method = build("apple", {"relationship_rate": 0.05}, training)
    both, one = (run(method, toy_problem(), seeds, DOUBLE).history for seeds in ((2, 5), (5,)))
    for split, metric in (("train", "loss"), ("test", "accuracy"), ("none", "self_weight")):
        assert np.allclose(series(both, split, metric)[:, 3:], series(one, split, metric), atol=1e-9)


def test_masks_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="run APPLE"):
        APPLE(APPLE.Settings(), TrainingSettings.model_validate({"model": {"masks": True}}))
