"""FedGTA: by hand, padded and unpadded, and against the plain program where clients choose whom to average."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.cohort import initial_parameters, start_cohort
from fedbench.engine.run import describe, run
from fedbench.methods._smoothing import Neighbourhoods, confidence, moments, propagated
from fedbench.methods.exchange import Cell, Exchange, Trained
from fedbench.methods.registry import build
from fedbench.tasks.node.arrays import NodeProblem
from fedbench.tasks.node.block import NodeBlock, pack
from fedbench.tasks.task import Place, Shape
from tests.reference.match import run_plain, series
from tests.toys import toy_problem

SMALL = TrainingSettings.model_validate({"rounds": 10, "learning_rate": 0.01, "model": {"width": 8}})
PLACE = Place(torch.float64)
SAGE = TrainingSettings.model_validate({"rounds": 3, "model": {"width": 8, "backbone": "sage"}})
TEXT = {"known_labels": False, "temperature": None}


def pair_problem() -> NodeProblem:
    """Client 0: two linked nodes, classes 0 (training) and 1; client 1: three nodes without an edge."""
    data = {
        "x_indptr": np.arange(6),
        "x_indices": np.zeros(5, dtype=np.int32),
        "x_data": np.ones(5, dtype=np.float32),
        "x_shape": np.array([5, 1]),
        "edges": np.array([[0, 1], [1, 0]]),
        "y": np.array([0, 1, 0, 1, 0]),
        "node_id": np.arange(5),
    }
    split = np.array([0, 1, 0, 1, 2], dtype=np.int8)
    return NodeProblem(data, {"client": np.array([0, 0, 1, 1, 1]), "node": np.arange(5), "split": split}, 2, 2)


def pair_block() -> NodeBlock:
    return pack([pair_problem().client_data], pair_problem(), "gcn", dtype=torch.float64, device=PLACE.device)


LABELS = torch.tensor([[[0.8, 0.2], [0.4, 0.6], [0.5, 0.5]], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]], dtype=torch.float64)


def test_propagation_by_hand() -> None:
    """In a linked pair all of S is 1/2: a step is half the pair's mean and half the start; a lone node stays."""
    matrix = Neighbourhoods([pair_problem().client_data], False).of(range(2), pair_block()).matrix
    once = propagated(matrix, LABELS, 1, 0.5, None)
    assert torch.allclose(once[0, :2], torch.tensor([[0.7, 0.3], [0.5, 0.5]], dtype=torch.float64))
    assert torch.allclose(once[1], LABELS[1])
    twice = propagated(matrix, LABELS, 2, 0.25, None)  # first (0.75, 0.45), mean 0.6
    assert twice[0, :2, 0].tolist() == pytest.approx([0.15 + 0.6, 0.15 + 0.3])
    held = propagated(matrix, LABELS, 1, 0.5, torch.tensor([0]))
    assert held[0, :2, 0].tolist() == pytest.approx([0.7 + 0.8, 0.5])


def test_confidence_by_hand() -> None:
    """A sure label of a node of degree d counts 2 d / e with two classes, the least sure (1/e, .) less."""
    sure, half = 2 / math.e, 2 / math.e - math.log(2)
    degrees = torch.tensor([[1.0, 3.0, 0.0], [2.0, 1.0, 1.0]], dtype=torch.float64)
    labels = torch.stack([torch.tensor([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]], dtype=torch.float64), LABELS[1]])
    assert confidence(labels, degrees).tolist() == pytest.approx([sure + 3 * half, 3 * sure + half], abs=1e-6)
    neighbourhoods = [Neighbourhoods([pair_problem().client_data], loops) for loops in (False, True)]
    degrees = [n.of(range(2), pair_block()).degrees.tolist() for n in neighbourhoods]
    assert degrees == [[[1, 1, 0], [0, 0, 0]], [[2, 2, 0], [1, 1, 1]]]


def test_moments_by_hand() -> None:
    """Client 0 has two nodes: the third slot, whatever is in it, must not count."""
    found = moments(LABELS, pair_block(), 2, ("raw", "central"))
    assert found[0].tolist() == pytest.approx([0.6, 0.4, (0.64 + 0.16) / 2, (0.04 + 0.36) / 2, 0, 0, 0.04, 0.04])
    assert found[1].tolist() == pytest.approx([0.5, 0.5, 1.25 / 3, 1.25 / 3, 0, 0, 0.5 / 3, 0.5 / 3])
    assert moments(LABELS, pair_block(), 3, ("raw",))[0].tolist() == pytest.approx(
        [0.6, 0.4, 0.4, 0.2, (0.512 + 0.064) / 2, (0.008 + 0.216) / 2]
    )


def mixing(sure: list[float], described: list[list[float]], epsilon: float) -> list[list[float]]:
    counts = torch.ones(len(sure), dtype=torch.int64)
    cell = Cell((Shape(1, 2),), (0,), counts, counts, torch.float64, torch.device("cpu"))
    uploads = {"confidence": torch.tensor([sure]).double(), "moments": torch.tensor([described]).double()}
    weights: Tensor = build("fedgta", {"epsilon": epsilon}, SMALL).mixing(uploads, Exchange(cell, 1, None, {}))
    return weights[0].tolist()


def test_the_server_averages_the_similar_by_their_confidence() -> None:
    described = [[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]]  # 0, 45 and 90 degrees
    assert mixing([1.0, 3.0, 4.0], described, 0.7)[0] == pytest.approx([0.25, 0.75, 0])
    assert mixing([1.0, 3.0, 4.0], described, 0.7)[1] == pytest.approx([0.125, 0.375, 0.5])
    assert mixing([1.0, 3.0, 4.0], described, 0.8) == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert mixing([1.0, 3.0, 4.0], described, -0.1)[2] == pytest.approx([0.125, 0.375, 0.5])


def test_clients_without_an_edge_average_uniformly_and_none_is_left_out() -> None:
    assert mixing([0.0, 0.0], [[1.0, 0.0], [1.0, 0.0]], 0.5) == [[0.5, 0.5]] * 2
    assert mixing([0.0, 2.0], [[0.0, 0.0], [1.0, 0.0]], 0.5) == [[1, 0], [0, 1]]  # no moments: nobody is similar


def signals(
    problem: NodeProblem, client: int, settings: dict[str, Any], training: TrainingSettings
) -> dict[str, Tensor]:
    """Return one client's signals, from the initial weights."""
    method = build("fedgta", settings, training)
    cell = describe(problem, method, (0,), PLACE)
    network, graphs = method.network(cell), [problem.client_data]
    cohort = start_cohort(cell, method, problem, graphs)
    views = cohort.by_client(initial_parameters(cell, network.parameters()))
    trained = Trained(
        network, views, views, cohort.packs[0].block, range(cell.clients), method.memory(cell, graphs, {})
    )
    return {name: value[0, client] for name, value in method.signals(trained).items()}


@pytest.mark.parametrize("settings", [{}, TEXT, {"self_loops": True, "moments": "central"}])
@pytest.mark.parametrize("training", [SMALL, SAGE])
def test_a_client_sends_the_same_alone_and_beside_a_larger_one(settings: Any, training: TrainingSettings) -> None:
    both = toy_problem((6, 30))
    mine = both.partition["client"] == 0
    alone = NodeProblem(both.data, {name: values[mine] for name, values in both.partition.items()}, 1, both.classes)
    padded, unpadded = (signals(problem, 0, settings, training) for problem in (both, alone))
    for name, value in padded.items():
        assert torch.allclose(value, unpadded[name], atol=1e-12), name


@pytest.mark.parametrize("training", [SMALL, SAGE])
@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 0.93, "order": 3},
        TEXT | {"epsilon": 0.9999, "self_loops": True},
        {"moments": "central", "epsilon": 0.7},
    ],
)
def test_clients_choose_as_in_the_plain_program(settings: dict[str, Any], training: TrainingSettings) -> None:
    problem = toy_problem((9, 14, 8, 12, 10))
    ours = run(build("fedgta", settings, training), problem, (3,), PLACE)
    plain = run_plain(build("fedgta", settings, training), "fedgta", problem, 3, PLACE)
    accepted = series(ours.history, "none", "accepted")
    assert accepted.min() < accepted.max()  # neither all nor nobody
    assert np.allclose(series(ours.history, "train", "loss"), plain.loss, rtol=0, atol=1e-9)
