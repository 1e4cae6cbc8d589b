"""The engine equals a plain program, one client after another, for every method, variant and task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from fedbench.configuration.method import load_method_file
from fedbench.methods.base import Method
from fedbench.methods.registry import method_names
from fedbench.tasks.task import Place
from tests.reference.match import CONFIGS, SMALL, cases, method_of, run_plain, run_suite, series
from tests.reference.plans import plan_names, plan_of, rec_program_of, tasks_of
from tests.tasks.toy_graphs import toy_graphs
from tests.toys import toy_problem

NODE = SMALL["node"]
DOUBLE, SINGLE = Place(torch.float64), Place(torch.float32)


def five_sets_of_graphs() -> Any:
    """Clients of other widths and sizes, so that a cluster of them may be cut twice."""
    return toy_graphs((3, 5, 4, 3, 6), (2, 3, 2, 2, 3), (15, 11, 18, 9, 13))


PROBLEMS: dict[str, Callable[[], Any]] = {"node": toy_problem, "graph": five_sets_of_graphs}
CASES = [pytest.param(task, *case, id=f"{task}-{case[0]}-{case[1]}{case[2] or ''}")
         for task in PROBLEMS for case in cases(task)]  # fmt: skip


def test_every_method_has_a_plain_program_of_each_of_its_tasks() -> None:
    """Those of recommendation are run in tests/tasks/rec/test_rec_contract.py, the others here."""
    assert plan_names() == set(method_names())
    programs = {"node": plan_of, "graph": plan_of, "rec": rec_program_of}
    for name in method_names():
        assert all(callable(programs[task](name)) for task in load_method_file(name, CONFIGS).tasks)


def compare(method: Method[Any], name: str, place: Place, tolerance: float) -> None:
    problem = PROBLEMS[method.training.task]()
    ours = run_suite(method, problem, (3,), place)
    plain = run_plain(method, name, problem, 3, place)
    for split in ("val", "test"):
        assert np.allclose(series(ours.history, split, "accuracy"), plain.accuracy[split], atol=1e-6), split
    if plain.loss:
        assert np.allclose(series(ours.history, "train", "loss"), plain.loss, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("task", "name", "variant", "settings"), CASES)
def test_ten_rounds_in_double_precision(task: str, name: str, variant: str, settings: dict[str, Any]) -> None:
    compare(method_of(name, variant, SMALL[task], settings), name, DOUBLE, 1e-9)


@pytest.mark.parametrize(("task", "name", "variant", "settings"), CASES)
def test_one_step_in_single_precision(task: str, name: str, variant: str, settings: dict[str, Any]) -> None:
    once = {"rounds": 1} | ({"batch_size": None} if task == "graph" else {})
    compare(method_of(name, variant, SMALL[task] | once, settings), name, SINGLE, 1e-5)


@pytest.mark.parametrize("name", ["fedavg", "fedprox", "fedpub", "fedaux"])
def test_several_local_epochs_and_deeper_networks(name: str) -> None:
    variant = "paper" if name in ("fedpub", "fedaux") else "default"
    training = NODE | {"local_epochs": 3, "model": {"layers": 3, "width": 8, "dropout": 0.3}}
    compare(method_of(name, variant, training), name, DOUBLE, 1e-9)


@pytest.mark.parametrize("name", ["fedprox", "scaffold"])
@pytest.mark.parametrize("changes", [{"local_epochs": 2}, {"evaluated_after": "local_steps"}, {"batch_size": None}])
def test_graphs_with_other_schedules(name: str, changes: dict[str, Any]) -> None:
    deeper = SMALL["graph"]["model"] | {"layers": 3, "dropout": 0.3}
    compare(method_of(name, "default", SMALL["graph"] | {"model": deeper} | changes), name, DOUBLE, 1e-9)


@pytest.mark.parametrize(
    ("name", "variant"), [("fedavg", "default"), ("fedaux", "paper"), ("masked_fedavg", "default")]
)
def test_graphsage_as_backbone(name: str, variant: str) -> None:
    training = NODE | {"model": NODE["model"] | {"backbone": "sage"}}
    compare(method_of(name, variant, training), name, DOUBLE, 1e-9)


def test_gradient_descent_as_optimiser() -> None:
    compare(method_of("fedavg", "default", NODE | {"optimiser": "sgd", "learning_rate": 0.5}), "fedavg", DOUBLE, 1e-9)


def test_a_convolution_as_readout() -> None:
    training = NODE | {"model": {"layers": 2, "width": 8, "dropout": 0.5, "readout": "convolution"}}
    compare(method_of("fedavg", "default", training), "fedavg", DOUBLE, 1e-9)


@pytest.mark.parametrize("name", sorted(set(method_names()) & plan_names()))
def test_a_method_is_for_the_tasks_in_which_it_was_compared(name: str) -> None:
    assert set(load_method_file(name, CONFIGS).tasks) == set(tasks_of(name))
