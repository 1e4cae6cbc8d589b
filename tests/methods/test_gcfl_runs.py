"""GCFL and GCFL+ in the engine, with thresholds that let clusters split, and with the ones that don't."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.run import Outcome, run
from fedbench.methods.exchange import Cell
from fedbench.methods.gcfl_plus import GCFLPlus, GCFLPlusSettings
from fedbench.methods.registry import build
from fedbench.tasks.task import Place, Shape
from tests.reference.match import run_plain, series
from tests.toys import toy_problem

SMALL = TrainingSettings.model_validate({"rounds": 10, "learning_rate": 0.01, "model": {"width": 8}})
PLACE = Place(torch.float64)
EAGER = {"eps1": 1e3, "eps2": 0.0, "burn_in": 2}
"""Thresholds that always hold."""


def labels(outcome: Outcome) -> np.ndarray:
    return series(outcome.history, "none", "cluster")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gcfl", EAGER),
        ("gcfl", {"relative": True, "eps1": 0.7, "eps2": 0.5, "burn_in": 0, "weights": "nodes"}),
        ("gcfl_plus", EAGER | {"window": 4}),
        ("gcfl_plus", EAGER | {"window": 3, "series": "update_norm", "weights": "train_nodes"}),
        ("gcfl_plus", EAGER | {"window": 5, "standardise": True}),
    ],
)
def test_clusters_split_as_the_plain_program_splits_them(name: str, settings: dict[str, Any]) -> None:
    problem = toy_problem((9, 14, 8, 12, 10))
    ours = run(build(name, settings, SMALL), problem, (3,), PLACE)
    plain = run_plain(build(name, settings, SMALL), name, problem, 3, PLACE)
    assert len(set(labels(ours)[-1])) > 1
    assert np.allclose(series(ours.history, "train", "loss"), plain.loss, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["gcfl", "gcfl_plus"])
def test_splits_of_a_seed_do_not_depend_on_its_block(name: str) -> None:
    problem, settings = toy_problem((9, 14, 8, 12, 10)), EAGER | ({"window": 3} if name == "gcfl_plus" else {})
    block, alone = (run(build(name, settings, SMALL), problem, seeds, PLACE) for seeds in ((0, 1, 2, 3), (3,)))
    assert len(np.unique(labels(block)[-1].reshape(4, -1), axis=0)) > 1  # seeds split differently
    assert np.array_equal(labels(block).reshape(10, 4, -1)[:, 3], labels(alone))


def test_without_a_split_it_is_fedavg_to_the_last_bit() -> None:
    problem = toy_problem()
    runs = [run(build(name, {}, SMALL), problem, (0,), Place()) for name in ("gcfl", "gcfl_plus", "fedavg")]
    losses = [series(outcome.history, "train", "loss") for outcome in runs]
    assert np.array_equal(losses[0], losses[2])
    assert np.array_equal(losses[1], losses[2])


def test_gradient_norms_cost_a_number_a_client_and_round() -> None:
    problem = toy_problem()
    plain, plus = (run(build(name, {}, SMALL), problem, (0,), Place()) for name in ("gcfl", "gcfl_plus"))
    assert plus.bytes_up - plain.bytes_up == 10 * 3 * 4


class Body(GCFLPlus):
    """GCFL+ that shares the first layer only."""

    def shares(self, parameter: str) -> bool:
        return parameter.startswith("conv1")


def test_only_shared_gradients_of_those_who_step_are_noted() -> None:
    method, cell = Body(GCFLPlusSettings(), SMALL), cell_of_three()
    memory = method.memory(cell, [], {"conv1.weight": torch.zeros(1, 3, 1, 2)})
    gradients = {"conv1.weight": torch.tensor([[[3.0, 4.0]] * 2]), "classifier.bias": torch.tensor([[[100.0]] * 2])}
    method.corrected(
        {name: g.double() for name, g in gradients.items()}, torch.tensor([[True, False]]), range(1, 3), memory
    )
    assert memory.gradient_norms.tolist() == [[0, 5, 0]]


def cell_of_three() -> Cell:
    sizes = torch.ones(3, dtype=torch.int64)
    return Cell((Shape(2, 2),) * len(sizes), (0,), sizes, sizes, torch.float64, torch.device("cpu"))


def test_clusters_of_a_shared_body_split_by_its_updates_alone() -> None:
    outcome = run(Body(GCFLPlusSettings(**EAGER, window=3), SMALL), toy_problem((9, 14, 8, 12, 10)), (3,), PLACE)
    assert len(set(labels(outcome)[-1])) > 1
    whole = run(build("gcfl_plus", EAGER | {"window": 3}, SMALL), toy_problem((9, 14, 8, 12, 10)), (3,), PLACE)
    norms = [series(o.history, "none", "update_norm") for o in (outcome, whole)]
    assert (norms[0][0] < norms[1][0]).all()  # round 1 starts alike: a part is shorter than the whole
