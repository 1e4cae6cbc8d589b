"""FedGNN's expansion by hand, its exchange, its noise and its traffic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine import packing
from fedbench.engine.run import describe, run
from fedbench.errors import ConfigurationError
from fedbench.methods._expansion import expanded_graphs
from fedbench.methods.registry import build
from fedbench.seeds import generator
from fedbench.tasks.node.arrays import NodeProblem
from fedbench.tasks.task import Place
from tests.reference.match import method_of, run_plain, series
from tests.reference.methods.fedgnn import neighbourhoods
from tests.toys import toy_problem

DOUBLE = Place(torch.float64)
SMALL: dict[str, Any] = {"rounds": 5, "model": {"width": 8}}


def path_problem(client: list[int], node: list[int]) -> NodeProblem:
    """The path 0 - 1 - 2 - 3 - 4 - 5 with one feature a node."""
    steps = np.array([[i, i + 1] for i in range(5)]).T
    data = {
        "x_indptr": np.arange(7), "x_indices": np.zeros(6, dtype=np.int32), "x_data": np.ones(6, dtype=np.float32),
        "x_shape": np.array([6, 1]), "edges": np.concatenate([steps, steps[::-1]], axis=1),
        "y": np.array([0, 1, 0, 1, 0, 1]), "node_id": np.arange(6),
    }  # fmt: skip
    split = np.arange(len(node)) % 3
    partition = {"client": np.array(client), "node": np.array(node), "split": split.astype(np.int8)}
    return NodeProblem(data, partition, max(client) + 1, 2)


def overlapping(problem: NodeProblem) -> NodeProblem:
    """The toy problem, but client 2 also holds client 0's first six nodes, and nobody client 1's last three."""
    client, node, split = (problem.partition[name] for name in ("client", "node", "split"))
    kept = ~np.isin(node, node[client == 1][-3:])
    client, node, split = (np.concatenate([a[kept], b]) for a, b in zip(
        (client, node, split), (np.full(6, 2), node[:6], split[:6]), strict=True))  # fmt: skip
    order = np.lexsort((node, client))
    partition = {"client": client[order], "node": node[order], "split": split[order].astype(np.int8)}
    return NodeProblem(problem.data, partition, 3, problem.classes)


def test_a_path_cut_in_two() -> None:
    """0 1 2 | 3 4 5: each client gains one node, linked to its end of the cut edge both ways."""
    left, right = expanded_graphs(path_problem([0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 4, 5]))
    assert (left.own, left.size, right.size) == (3, 4, 4)
    assert set(zip(*left.edges.tolist(), strict=True)) == {(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)}
    assert set(zip(*right.edges.tolist(), strict=True)) == {(0, 1), (1, 0), (1, 2), (2, 1), (0, 3), (3, 0)}
    assert (left.sender.tolist(), left.place.tolist(), left.sent.tolist()) == ([1], [0], [2])
    assert (right.sender.tolist(), right.place.tolist(), right.sent.tolist()) == ([0], [0], [0])
    assert (left.split[3], left.owner.tolist(), left.feature_rows.tolist()) == (3, [0, 0, 0, 0], [0, 1, 2])


def test_overlaps_ask_the_first_holder_and_absent_nodes_stay_out() -> None:
    """Clients {0, 1, 2}, {1, 2}, {4}: node 3 is nobody's; client 1 misses 0, which client 0 holds."""
    graphs = expanded_graphs(path_problem([0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 4]))
    assert [graph.outside for graph in graphs] == [0, 1, 0]
    assert graphs[1].edges.T.tolist() == [[0, 1], [1, 0], [0, 2], [2, 0]]
    assert (graphs[1].sender.tolist(), [graph.sent.tolist() for graph in graphs]) == ([0], [[0], [], []])


@pytest.mark.parametrize("problem", [toy_problem(), overlapping(toy_problem())], ids=["disjoint", "overlapping"])
def test_every_outside_node_is_sent_by_who_holds_it(problem: NodeProblem) -> None:
    graphs = expanded_graphs(problem)
    members, outside, asked = neighbourhoods(problem)
    for graph, own, nodes in zip(graphs, members, outside, strict=True):
        assert (graph.own, graph.outside) == (len(own), len(nodes))
        senders = zip(graph.sender.tolist(), graph.place.tolist(), strict=True)
        assert [(k, int(graphs[k].sent[place])) for k, place in senders] == [asked[node] for node in nodes]


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        ({"expanded_after": 1}, {"layers": 3, "dropout": 0.3}),
        ({"expanded_after": 3, "exchanged": "once"}, {"layers": 2}),
        ({"clip": 0.001}, {"layers": 2, "readout": "convolution"}),
        ({"clip": 0.1, "noise": 0.2}, {"layers": 2, "backbone": "sage"}),
        ({}, {"layers": 1}),
    ],
)
@pytest.mark.parametrize("cut", ["disjoint", "overlapping"])
def test_other_settings_and_networks_equal_the_plain_program(settings: Any, model: Any, cut: str) -> None:
    problem = toy_problem() if cut == "disjoint" else overlapping(toy_problem())
    training = TrainingSettings.model_validate({"rounds": 5, "local_epochs": 2, "model": {"width": 8} | model})
    method = build("fedgnn", settings, training)
    ours, plain = run(method, problem, (3,), DOUBLE), run_plain(method, "fedgnn", problem, 3, DOUBLE)
    assert np.allclose(series(ours.history, "train", "loss"), plain.loss, rtol=0, atol=1e-9)
    assert np.allclose(series(ours.history, "test", "accuracy"), plain.accuracy["test"], atol=1e-6)


def losses(problem: NodeProblem, **settings: Any) -> np.ndarray:
    model = {"width": 8, "dropout": 0.0}
    training = TrainingSettings.model_validate({"rounds": 5, "model": model})
    return series(run(build("fedgnn", settings, training), problem, (0,), DOUBLE).history, "train", "loss")


def test_what_is_received_matters_only_after_the_exchange() -> None:
    problem = toy_problem()
    early, late = losses(problem, expanded_after=2), losses(problem, expanded_after=4)
    assert np.allclose(early[:2], late[:2], atol=1e-12, rtol=0)
    assert not np.allclose(early[2], late[2], atol=1e-6)


def test_without_cut_edges_it_is_fedavg() -> None:
    problem = toy_problem()
    owner = problem.partition["client"]
    inside = owner[problem.data["edges"][0]] == owner[problem.data["edges"][1]]
    problem = NodeProblem(dict(problem.data) | {"edges": problem.data["edges"][:, inside]}, problem.partition, 3, 4)
    fedgnn, fedavg = (run(method_of(name, "default", SMALL), problem, (0,), DOUBLE) for name in ("fedgnn", "fedavg"))
    assert np.array_equal(series(fedgnn.history, "train", "loss"), series(fedavg.history, "train", "loss"))


def test_evaluation_on_the_whole_graph_receives_nothing() -> None:
    outcome = run(method_of("fedgnn", "default", SMALL | {"evaluated_on": "whole_graph"}), toy_problem(), (0,), DOUBLE)
    assert np.isfinite(series(outcome.history, "test", "accuracy")).all()


def test_traffic_counts_what_is_sent_not_the_padding() -> None:
    problem = toy_problem()
    graphs = expanded_graphs(problem)
    sent, outside, known = (
        sum(sizes) for sizes in zip(*((len(g.sent), g.outside, g.size) for g in graphs), strict=True)
    )
    ours, plain = (run(method_of(name, "default", SMALL), problem, (0, 1), DOUBLE) for name in ("fedgnn", "fedavg"))
    exchanges = 4  # after rounds 2, 3, 4 and 5
    assert ours.bytes_up - plain.bytes_up == 256 * known + exchanges * 4 * 8 * sent
    assert ours.bytes_down - plain.bytes_down == exchanges * 4 * 8 * outside


def test_clipping_and_noise_bound_what_leaves_the_client() -> None:
    """Gradients +-5 become +-0.1 with noise whose scale is 0.2: a Laplace variable's mean distance from its centre."""
    training = TrainingSettings.model_validate(SMALL)
    method = build("fedgnn", {"clip": 0.1, "noise": 0.2}, training)
    cell = describe(toy_problem(), method, (7,), DOUBLE)
    memory = method.memory(cell, method.prepare(toy_problem(), cell).data, {})
    raw = {"w": torch.full((1, 3, 20_000), 5.0, dtype=torch.float64)}
    found = method.corrected(raw, torch.ones(1, 3, dtype=torch.bool), range(3), memory)["w"]
    assert torch.allclose(found.median(-1).values, torch.tensor(0.1, dtype=torch.float64), atol=0.01)
    assert torch.allclose((found - 0.1).abs().mean(-1), torch.tensor(0.2, dtype=torch.float64), rtol=0.03)
    drawn = generator("fedgnn noise", 7, 1, 1, 0, "w").laplace(0.0, 0.2, 20_000)
    assert np.allclose(found[0, 1] - 0.1, drawn, atol=1e-12)
    again = method.corrected({"w": torch.full_like(found, 5.0)}, torch.ones(1, 3).bool(), range(3), memory)["w"]
    assert not torch.equal(found, again)
    assert not torch.equal(found[0, 0], found[0, 1])


def test_noise_does_not_depend_on_who_is_computed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients of one and of two batches an epoch: who takes no step counts none, so its second epoch is the same."""
    own = {"rounds": 2, "local_epochs": 2, "batch_size": 4, "model": {"backbone": "sage", "width": 8, "dropout": 0.0}}
    method = build("fedgnn", {"clip": 0.1, "noise": 0.2}, TrainingSettings.model_validate(own))
    together = run(method, toy_problem(), (3,), DOUBLE)
    monkeypatch.setattr(packing, "PACKED_PARAMETERS", 1)
    apart = run(method, toy_problem(), (3,), DOUBLE)
    assert len(set(together.steps[0])) > 1
    losses = [series(outcome.history, "train", "loss") for outcome in (together, apart)]
    assert np.allclose(*losses, atol=1e-9, rtol=0)


def test_the_budget_is_stated() -> None:
    """2 x 0.1 / 0.2 = 1 a number and step; 5 rounds of 1 epoch; 12 x 8 + 8 + 8 x 8 + 8 + 8 x 4 + 4 numbers."""
    stated = run(method_of("fedgnn", "private", SMALL), toy_problem(), (0, 1), DOUBLE).preparation[1]
    numbers = 12 * 8 + 8 + 8 * 8 + 8 + 8 * 4 + 4
    assert (stated["epsilon_of_a_number_in_a_step"], stated["epsilon_of_a_number_in_the_run"]) == (1.0, 5.0)
    assert (stated["numbers_in_a_gradient"], stated["epsilon_of_the_run"]) == (numbers, 5.0 * numbers)
    assert "local_steps" not in run(method_of("fedgnn", "default", SMALL), toy_problem(), (0,), DOUBLE).preparation[0]


def test_noise_without_a_bound_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="noise needs clip"):
        build("fedgnn", {"noise": 0.2}, TrainingSettings())
