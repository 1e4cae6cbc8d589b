"""What each method's server does, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.methods.exchange import Cell, Exchange
from fedbench.methods.registry import build, method_class, method_names
from fedbench.methods.weights import squared_distance
from fedbench.tasks.task import Shape

CELL = Cell(
    shapes=(Shape(6, 3),) * 3, seeds=(0,), nodes=torch.tensor([10, 30, 60]), train_nodes=torch.tensor([5, 5, 30]),
    dtype=torch.float64, device=torch.device("cpu"),
)  # fmt: skip
TRAINING = TrainingSettings()


def mixing(name: str, uploads: dict[str, Tensor] | None = None, **settings: object) -> list[list[float]]:
    return build(name, settings, TRAINING).mixing(uploads or {}, Exchange(CELL, 1, None, {}))[0].tolist()


def test_fedavg_weighs_as_told() -> None:
    assert mixing("fedavg") == [[pytest.approx(1 / 3)] * 3] * 3
    assert mixing("fedavg", weights="nodes") == [pytest.approx([0.1, 0.3, 0.6])] * 3
    assert mixing("fedavg", weights="train_nodes") == [pytest.approx([0.125, 0.125, 0.75])] * 3


def test_self_weight_keeps_its_share() -> None:
    assert mixing("self_weight", self_weight=0.8)[1] == pytest.approx([0.1, 0.8, 0.1])


def test_similarities_by_hand() -> None:
    """Vectors at 0, 60 and 90 degrees: cosines 1, 1/2, 0 and sqrt(3)/2."""
    vectors = torch.tensor([[[2.0, 0.0], [0.5, math.sqrt(3) / 2], [0.0, 7.0]]], dtype=torch.float64)
    weights = [math.exp(4 * c) for c in (1.0, 0.5, 0.0)]
    expected = [w / sum(weights) for w in weights]
    assert mixing("fedpub", {"functional_embedding": vectors}, tau=4.0)[0] == pytest.approx(expected)
    assert mixing("fedaux", {"apv": vectors}, alpha=4.0)[0] == pytest.approx(expected)
    assert mixing("fedaux", {"apv": vectors}, alpha=0.0)[2] == pytest.approx([1 / 3] * 3)


def test_squared_distance_by_hand() -> None:
    mine = {"a": torch.tensor([[[1.0, 2.0], [0.0, 0.0]]]), "b": torch.tensor([[[3.0], [1.0]]])}
    received = {"a": torch.tensor([[[0.0, 0.0], [0.0, 2.0]]]), "b": torch.tensor([[[1.0], [1.0]]])}
    assert squared_distance(mine | {"private": torch.ones(1)}, received).tolist() == [[1 + 4 + 4, 4]]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("fedavg", set()),
        ("fedper", {"classifier.weight", "classifier.bias"}),
        ("fedpub", {"conv1.mask", "conv2.mask", "classifier.mask"}),
        ("fedaux", {"conv1.mask", "conv2.mask", "classifier.mask", "classifier.weight", "classifier.bias"}),
    ],
)
def test_what_stays_on_the_client(name: str, kept: set[str]) -> None:
    method = build(name, {}, TRAINING)
    declared = method.network(CELL).parameters()
    assert {p for p in declared if not method.shares(p)} == kept


def test_unknown_settings_and_methods_suggest_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="unknown key 'alhpa' \\(did you mean 'alpha'"):
        build("fedaux", {"alhpa": 3}, TRAINING)
    with pytest.raises(ConfigurationError, match="did you mean 'fedavg'"):
        method_class("fedavgg")


@pytest.mark.parametrize("name", method_names())
def test_every_method_says_where_it_comes_from_and_explains_its_settings(name: str) -> None:
    cls = method_class(name)
    assert cls.source and cls.__doc__
    assert all(field.description for field in cls.Settings.model_fields.values())
