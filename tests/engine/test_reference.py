"""The engine equals a plain program, one client after another, for every method and variant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from fedbench.methods.registry import method_names
from fedbench.tasks.task import Place
from tests.reference.match import method_of, run_plain, run_suite, series, variants
from tests.reference.plans import plan_names
from tests.toys import toy_problem

SMALL: dict[str, Any] = {"rounds": 10, "learning_rate": 0.01, "model": {"layers": 2, "width": 8, "dropout": 0.5}}


def test_every_method_has_a_plain_program() -> None:
    assert plan_names() == set(method_names())


def compare(name: str, variant: str, training: dict, place: Place, tolerance: float) -> None:
    problem = toy_problem()
    method = method_of(name, variant, training)
    ours = run_suite(method, problem, (3,), place)
    plain = run_plain(method, name, problem, 3, place)
    for split in ("val", "test"):
        assert np.allclose(series(ours.history, split, "accuracy"), plain.accuracy[split], atol=1e-6), split
    if plain.loss:
        assert np.allclose(series(ours.history, "train", "loss"), plain.loss, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("name", "variant"), variants())
def test_ten_rounds_in_double_precision(name: str, variant: str) -> None:
    compare(name, variant, SMALL, Place(torch.float64), 1e-9)


@pytest.mark.parametrize(("name", "variant"), variants())
def test_one_step_in_single_precision(name: str, variant: str) -> None:
    compare(name, variant, SMALL | {"rounds": 1}, Place(torch.float32), 1e-5)


@pytest.mark.parametrize("name", ["fedavg", "fedprox", "fedpub", "fedaux"])
def test_several_local_epochs_and_deeper_networks(name: str) -> None:
    variant = "paper" if name in ("fedpub", "fedaux") else "default"
    training = SMALL | {"local_epochs": 3, "model": {"layers": 3, "width": 8, "dropout": 0.3}}
    compare(name, variant, training, Place(torch.float64), 1e-9)


@pytest.mark.parametrize(
    ("name", "variant"), [("fedavg", "default"), ("fedaux", "paper"), ("masked_fedavg", "default")]
)
def test_graphsage_as_backbone(name: str, variant: str) -> None:
    training = SMALL | {"model": SMALL["model"] | {"backbone": "sage"}}
    compare(name, variant, training, Place(torch.float64), 1e-9)


def test_gradient_descent_as_optimiser() -> None:
    compare("fedavg", "default", SMALL | {"optimiser": "sgd", "learning_rate": 0.5}, Place(torch.float64), 1e-9)


def test_a_convolution_as_readout() -> None:
    training = SMALL | {"model": {"layers": 2, "width": 8, "dropout": 0.5, "readout": "convolution"}}
    compare("fedavg", "default", training, Place(torch.float64), 1e-9)
