"""Batches of training nodes, sampled neighbours, evaluation on the whole graph, membership inference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.optimisers import StackedSGD
from fedbench.engine.run import run
from fedbench.errors import ConfigurationError
from fedbench.methods.registry import build
from fedbench.tasks.node.batches import batches
from fedbench.tasks.node.block import NodeBlock, pack
from fedbench.tasks.node.membership import attack_auc
from fedbench.tasks.task import Place
from tests.reference.match import method_of, series
from tests.toys import toy_problem

DOUBLE = Place(torch.float64)
SAGE: dict[str, Any] = {"backbone": "sage", "layers": 2, "width": 8}


def block_of(propagation: str = "sage") -> NodeBlock:
    problem = toy_problem()
    graphs = [problem.client_data]
    return pack(graphs, problem, propagation, dtype=torch.float64, device=torch.device("cpu"))


def training_of(**changes: object) -> TrainingSettings:
    return TrainingSettings.model_validate({"model": SAGE} | changes)


MEMBERS = [(0, 0), (0, 1), (0, 2)]


def test_an_epoch_visits_every_training_node_once() -> None:
    block = block_of()
    steps = list(batches(block, training_of(batch_size=3), MEMBERS, 1, 0))
    assert len(steps) == 3  # 6, 8 and 4 training nodes in batches of 3
    visited = torch.cat([step.train_slots for step in steps])
    assert sorted(visited.tolist()) == block.train_slots.tolist()
    assert [step.train_counts.sum(1).tolist() for step in steps] == [[3, 3, 3], [3, 3, 1], [0, 2, 0]]
    again = list(batches(block, training_of(batch_size=3), MEMBERS, 1, 1))
    assert not torch.equal(visited, torch.cat([step.train_slots for step in again]))


def test_drawn_neighbours_are_neighbours_and_average_to_the_mean() -> None:
    block, training = block_of(), training_of(neighbour_samples=[2, 3])
    identity = torch.eye(len(block.labels), dtype=torch.float64)
    mean = block.adjacency @ identity
    total = torch.zeros_like(mean)
    for epoch in range(400):
        (step,) = batches(block, training, MEMBERS, 1, epoch)
        first, second = (matrix @ identity for matrix in step.drawn)
        assert bool(((second * 3).round() == second * 3).all()) and not torch.equal(first, second)
        assert torch.allclose(first.sum(1), mean.sum(1)) and not bool((first[mean == 0] > 0).any())
        total += second
    assert float((total / 400 - mean).abs().max()) < 0.12


def test_clients_without_a_node_in_a_batch_stand_still() -> None:
    problem = toy_problem()
    model = SAGE | {"dropout": 0.0}
    base = {"rounds": 1, "learning_rate": 0.1, "optimiser": "sgd", "model": model}
    alone = run(method_of("local", "default", base | {"batch_size": 4}), problem, (0,), DOUBLE)
    assert max(alone.steps[0]) == 2  # the client with 8 training nodes takes two steps, the one with 4 takes one
    # The client with 4 training nodes sees them all in its one step: the same loss as without batches.
    whole = run(method_of("local", "default", base), problem, (0,), DOUBLE)
    assert series(alone.history, "train", "loss")[0, 2] == pytest.approx(series(whole.history, "train", "loss")[0, 2])


def test_batches_do_not_depend_on_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    from fedbench.engine import packing

    problem, training = toy_problem(), {"rounds": 3, "batch_size": 3, "neighbour_samples": [2, 2], "model": SAGE}
    method = method_of("fedsage", "default", training)
    together = run(method, problem, (0, 1), DOUBLE)
    monkeypatch.setattr(packing, "PACKED_PARAMETERS", 1)
    apart = run(method, problem, (1,), DOUBLE)
    both = series(together.history, "train", "loss").reshape(3, 2, -1)[:, 1]
    assert np.allclose(both, series(apart.history, "train", "loss"), atol=1e-9, rtol=0)


def test_gradient_descent_by_hand() -> None:
    stack = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    StackedSGD({"w": stack}, 0.5, 0.1).step({"w": torch.ones_like(stack)}, [False, True])
    assert stack.tolist() == [[1.0, 2.0], [3.0 - 0.5 * 1.3, 4.0 - 0.5 * 1.4]]


def test_on_the_whole_graph_a_model_sees_edges_between_clients() -> None:
    problem = toy_problem()
    training = {"rounds": 2, "evaluated_after": "download", "model": {"width": 8}}
    own, whole = (
        run(method_of("fedavg", "default", training | {"evaluated_on": where}), problem, (0,), DOUBLE)
        for where in ("client", "whole_graph")
    )
    pooled = run(method_of("fedavg", "default", training), toy_problem((52,)), (0,), DOUBLE)
    assert series(pooled.history, "test", "accuracy").shape == (2, 1)
    found = series(whole.history, "test", "accuracy")
    assert np.allclose(found, found[:, :1])  # all clients have downloaded the same model
    tested = int((problem.partition["split"] == 2).sum())
    assert np.allclose(found * tested, np.round(found * tested))
    assert not np.allclose(found, series(own.history, "test", "accuracy"))


def test_the_attack_is_the_area_under_the_curve_of_scikit_learn() -> None:
    block = block_of("gcn")
    logits = torch.randn(3, block.slots, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).round()
    found = attack_auc(block, logits)
    losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), block.labels, reduction="none").numpy()
    for client in range(3):
        parts = [block.members[split] for split in ("train", "test")]
        scores = [-losses[part.slots[part.group == client].numpy()] for part in parts]
        truth = np.repeat([1, 0], [len(part) for part in scores])
        assert found[client] == pytest.approx(roc_auc_score(truth, np.concatenate(scores)))


def test_the_attack_is_measured_once_at_the_end() -> None:
    outcome = run(method_of("fedavg", "default", {"rounds": 3, "model": {"width": 8}}), toy_problem(), (0,), DOUBLE)
    assert [entry[0] for entry in outcome.history.entries if entry[2] == "attack_auc"] == [3]


@pytest.mark.parametrize(
    "changes",
    [
        {"model": {"backbone": "gcn"}, "neighbour_samples": [5, 5]},
        {"neighbour_samples": [5]},
        {"model": {"width": [8, 8, 8]}},
        {"model": {"backbone": "sage", "readout": "convolution"}},
    ],
)
def test_settings_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"one number a layer|one for each hidden layer|goes with backbone"):
        training_of(**changes)


def test_fedsage_needs_its_backbone() -> None:
    with pytest.raises(ConfigurationError, match="sage"):
        build("fedsage", {}, TrainingSettings())
