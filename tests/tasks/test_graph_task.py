"""Graph classification in the engine against a plain PyG program, and the parts it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe, run
from fedbench.methods.registry import build
from fedbench.tasks.graph.arrays import ClientGraphs, choose
from fedbench.tasks.graph.batches import steps
from fedbench.tasks.graph.block import GraphBlock
from fedbench.tasks.graph.colours import Rows, distinct, indicator, summed_rows
from fedbench.tasks.graph.evaluation import OnGraphs, compressed
from fedbench.tasks.task import Place
from tests.reference.match import run_plain, series
from tests.tasks.toy_graphs import toy_graphs

DOUBLE = Place(torch.float64)


def training(**changes: Any) -> TrainingSettings:
    model = {"backbone": "gin", "layers": 2, "width": 6, "dropout": 0.5} | changes.pop("model", {})
    values = {"task": "graph", "rounds": 4, "batch_size": 4, "learning_rate": 0.01, "evaluated_after": "download"}
    return TrainingSettings.model_validate(values | {"model": model} | changes)


@pytest.mark.parametrize("changes", [{}, {"model": {"layers": 3}}, {"local_epochs": 2}, {"model": {"dropout": 0.0}}])
def test_fedavg_equals_a_plain_program(changes: dict[str, Any]) -> None:
    problem, chosen = toy_graphs(), training(**changes)
    method = build("fedavg", {"weights": "train_nodes"}, chosen)
    ours, plain = run(method, problem, (3,), DOUBLE), run_plain(method, "fedavg", problem, 3, DOUBLE)
    assert np.allclose(series(ours.history, "train", "loss"), plain.loss, atol=1e-9, rtol=0)
    assert np.allclose(series(ours.history, "test", "accuracy"), plain.accuracy["test"])


def test_only_the_convolutions_leave_a_client() -> None:
    chosen = training()
    method, problem = build("fedavg", {}, chosen), toy_graphs()
    cohort = start_cohort(describe(problem, method, (0,), DOUBLE), method, problem, [problem.client_data])
    assert set(cohort.shared) == {
        f"conv{layer}.{p}.{k}" for layer in (1, 2) for p in ("first", "second") for k in ("weight", "bias")
    }
    assert [pack.clients for pack in cohort.packs] == [range(k, k + 1) for k in range(3)]
    outcome = run(method, problem, (0,), DOUBLE)
    assert outcome.bytes_up == 4 * 3 * 4 * 2 * (2 * (6 * 6 + 6))  # rounds, clients, bytes, layers, two linear maps


def test_clients_of_one_width_are_computed_alone_or_together_alike() -> None:
    problem = toy_graphs((4, 4, 4), (2, 2, 2))
    method = build("fedavg", {}, training())
    apart, together = run(method, problem, (2,), DOUBLE), run(method, problem, (2, 5), DOUBLE)
    both = series(together.history, "train", "loss").reshape(4, 2, -1)[:, 0]
    assert np.allclose(both, series(apart.history, "train", "loss"), atol=1e-9, rtol=0)
    assert np.allclose(
        series(together.history, "test", "accuracy").reshape(4, 2, -1)[:, 0], series(apart.history, "test", "accuracy")
    )


def test_an_epoch_visits_every_training_graph_once() -> None:
    problem = toy_graphs()
    block = GraphBlock(problem.client_data, DOUBLE)
    found = list(steps(block, training(), [(0, k) for k in range(3)], 1, 0))
    assert [step.block.graph_sizes for step in found] == [(4, 4, 4), (4, 4, 4), (1, 1, 1)]
    labels = torch.cat([step.block.labels.view(3, -1) for step in found], dim=1)
    for client, own in zip(problem.client_data, labels, strict=True):
        assert sorted(own[own >= 0].tolist()) == sorted(client.labels[client.of_split("train")].tolist())


def test_colours_change_nothing() -> None:
    problem = toy_graphs()
    network = build("fedavg", {}, training(model={"layers": 3})).network(
        describe(problem, build("fedavg", {}, training()), (0,), DOUBLE), 0
    )
    block = GraphBlock(problem.client_data[:1], DOUBLE)
    parameters = {n: torch.randn(1, *p.shape, dtype=torch.float64) for n, p in network.parameters().items()}
    graphs = [np.arange(15)]
    by_node = network.forward(parameters, block.batch(graphs), None)
    assert torch.allclose(network.forward(parameters, compressed(block, graphs, 3), None), by_node)


def test_a_block_is_not_taken_for_one_that_is_gone() -> None:
    """Blocks that live only as long as their evaluation get the memory, and the number, of the one before."""
    problem, chosen = toy_graphs((4, 4), (2, 2)), training()
    method = build("fedavg", {}, chosen)
    network = method.network(describe(problem, method, (0,), DOUBLE), 0)
    parameters = {n: torch.randn(1, *p.shape, dtype=torch.float64) for n, p in network.parameters().items()}
    evaluator, clients = OnGraphs(2), problem.client_data * 4

    def right(client: ClientGraphs, evaluator: OnGraphs) -> list[float]:
        figures = evaluator.figures(network, parameters, GraphBlock([client], DOUBLE), False)
        return [value.item() for value in figures.values()]

    assert right(clients[0], OnGraphs(2)) != right(clients[1], OnGraphs(2))
    assert [right(client, evaluator) for client in clients] == [right(client, OnGraphs(2)) for client in clients]


def test_chosen_graphs_keep_their_edges() -> None:
    client = toy_graphs().client_data[1]
    chosen = choose(client, np.array([7, 2]))
    for place, graph in enumerate((7, 2)):
        for node in range(int(chosen.nodes[place]), int(chosen.nodes[place + 1])):
            old = int(chosen.rows[node])
            here = chosen.neighbours[chosen.start[node] : chosen.start[node + 1]]
            there = client.neighbours[client.start[old] : client.start[old + 1]]
            assert chosen.rows[here].tolist() == there.tolist()
            assert client.nodes[graph] <= old < client.nodes[graph + 1]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 30), st.integers(1, 5))
def test_distinct_rows_are_those_of_numpy(seed: int, count: int, width: int) -> None:
    random = np.random.default_rng(seed)
    dense = random.integers(0, 3, (count, width)).astype(float)
    rows, columns = np.nonzero(dense)
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
    first, inverse = distinct(Rows(start, columns, dense[rows, columns], width))
    assert len(first) == len(np.unique(dense, axis=0))
    assert np.array_equal(dense[first][inverse], dense)


def test_rows_are_told_apart_where_their_first_sums_are_equal() -> None:
    """Two counts change places in columns whose factors end in the same bits, as met in a batch of FedIGL in SM."""
    values = np.array([1, 2, 1, 1, 1, 2, 1, 2, 1], dtype=float)
    first, inverse = distinct(Rows(np.array([0, 3, 6, 9]), np.tile([17, 42, 47], 3), values, 60))
    assert (len(first), inverse[0] == inverse[2], inverse[0] == inverse[1]) == (2, True, False)


def test_summed_rows_by_hand() -> None:
    rows = summed_rows(np.array([0, 2, 3]), np.array([0, 1, 1]), indicator(np.array([1, 1]), 3))
    assert (rows.start.tolist(), rows.columns.tolist(), rows.values.tolist()) == ([0, 1, 2], [1, 1], [2.0, 1.0])


def test_a_task_refuses_a_backbone_of_another() -> None:
    with pytest.raises(ValueError, match="task 'graph' needs backbone gin"):
        training(model={"backbone": "gcn"})
    with pytest.raises(ValueError, match="task 'node' needs backbone gcn or sage"):
        TrainingSettings.model_validate({"model": {"backbone": "gin"}})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evaluated_on": "whole_graph"}, "evaluated_on 'client'"),
        ({"model": {"width": [6, 4]}}, "one width for all layers"),
        ({"model": {"masks": True}}, "no masks"),
        ({"model": {"apv": True}}, "no apv"),
    ],
)
def test_settings_that_graph_classification_would_ignore_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        training(**changes)
