"""FedStar: encodings by hand and by dense matrix powers, what is shared, and with which weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe, run
from fedbench.kernels.sparse import from_rows
from fedbench.methods._fedstar_encoding import adjacency, degree_classes, read_by_layer_1, return_probabilities
from fedbench.methods.exchange import Exchange
from fedbench.methods.registry import build
from fedbench.models.fedstar import normalised
from fedbench.tasks.graph.block import GraphBlock
from fedbench.tasks.task import Place
from tests.reference.match import SMALL, method_of, series
from tests.reference.methods.fedstar import encodings
from tests.tasks.toy_graphs import toy_graphs

DOUBLE = Place(torch.float64)


def graph_of(pairs: list[tuple[int, int]], nodes: int) -> sparse.csr_array:
    dense = np.zeros((nodes, nodes))
    for a, b in pairs:
        dense[a, b] = dense[b, a] = 1
    return sparse.csr_array(dense)


def test_encodings_of_a_path_a_triangle_and_a_node_alone() -> None:
    """Path 0-1-2: an end goes to the middle, which returns to it every second time. Triangle 3-4-5. Node 6 alone."""
    graph = graph_of([(0, 1), (1, 2), (3, 4), (4, 5), (3, 5)], 7)
    walks = return_probabilities(graph, 5)
    assert np.allclose(walks[[0, 2]], [0, 1 / 2, 0, 1 / 2, 0])
    assert np.allclose(walks[1], [0, 1, 0, 1, 0])
    assert np.allclose(walks[3:6], [0, 1 / 2, 1 / 4, 3 / 8, 5 / 16])
    assert walks[6].tolist() == [0] * 5
    assert degree_classes(graph, 3).argmax(1).tolist() == [0, 1, 0, 1, 1, 1, 0]
    star = graph_of([(0, leaf) for leaf in range(1, 6)], 6)
    assert degree_classes(star, 3).argmax(1).tolist() == [2, 0, 0, 0, 0, 0]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 9))
def test_encodings_are_those_of_dense_powers(seed: int, steps: int) -> None:
    client = toy_graphs((3,), (2,), 8, seed).client_data[0]
    graph = adjacency(client)
    found = np.hstack([return_probabilities(graph, steps), degree_classes(graph, 4)])
    edges = torch.from_numpy(np.stack(graph.nonzero()))
    chosen: Any = SimpleNamespace(encoding="rw_dg", walk_steps=steps, degrees=4)
    assert np.allclose(found, encodings(edges, graph.shape[0], chosen).numpy(), atol=1e-12)


def test_layer_1_reads_sums_over_neighbours_and_the_same_normalised() -> None:
    """Path 0-1-2 and node 3 alone, T = 1, 2, 4, 8: (A + I) [T | 1], and S [T | 1] with D = 2, 3, 2, 1."""
    found = read_by_layer_1(graph_of([(0, 1), (1, 2)], 4), np.array([[1.0], [2.0], [4.0], [8.0]]))
    assert found[:, :2].tolist() == [[3, 2], [7, 3], [6, 2], [8, 1]]
    half, third, sixth = 1 / 2, 1 / 3, 1 / 6**0.5
    smooth = np.array([[half, sixth, 0, 0], [sixth, third, sixth, 0], [0, sixth, half, 0], [0, 0, 0, 1]])
    assert np.allclose(found[:, 2:], smooth @ [[1, 1], [2, 1], [4, 1], [8, 1]])


def test_a_batch_carries_the_encodings_of_its_own_nodes() -> None:
    method, problem = method_of("fedstar", "default", SMALL["graph"]), toy_graphs()
    data = method.prepare(problem, describe(problem, method, (0,), DOUBLE)).data[0]
    chosen = [np.array([7, 2]), np.array([0]), np.array([4, 5])]
    batch = GraphBlock(data, DOUBLE).batch(chosen)
    assert batch.extra is not None
    for k, (client, graphs) in enumerate(zip(data, chosen, strict=True)):
        rows = np.concatenate([np.arange(client.nodes[g], client.nodes[g + 1]) for g in graphs])
        assert np.array_equal(batch.extra[k, : len(rows)].numpy(), client.extra[rows])
        assert not batch.extra[k, len(rows) :].any()
    assert GraphBlock(problem.client_data, DOUBLE).batch(chosen).extra is None


def test_normalised_is_kipf_and_wellings_matrix() -> None:
    """A path of three with loops: rows sum to 2, 3, 2."""
    start, columns = np.array([0, 2, 5, 7]), np.array([0, 1, 0, 1, 2, 1, 2])
    around = from_rows([start], [columns], [None], (3, 3), dtype=torch.float64, device=torch.device("cpu"))
    dense = normalised(around, torch.float64) @ torch.eye(3, dtype=torch.float64)
    half, third, sixth = 1 / 2, 1 / 3, 1 / 6**0.5
    assert np.allclose(dense, [[half, sixth, 0], [sixth, third, sixth], [0, sixth, half]])


@pytest.mark.parametrize(("variant", "leaves"), [("default", True), ("alone", False)])
def test_only_the_structure_channel_leaves_a_client(variant: str, leaves: bool) -> None:
    method, problem = method_of("fedstar", variant, SMALL["graph"] | {"rounds": 2}), toy_graphs()
    data = method.prepare(problem, describe(problem, method, (0,), DOUBLE)).data
    cohort = start_cohort(describe(problem, method, (0,), DOUBLE), method, problem, data)
    kinds, layers = ("weight", "bias"), ("input", "conv1", "conv2")
    assert set(cohort.shared) == {f"structure.{layer}.{kind}" for layer in layers for kind in kinds if leaves}
    numbers = 32 * 8 + 8 + 2 * (8 * 8 + 8)  # input layer, two convolutions
    outcome = run(method, problem, (0,), DOUBLE)
    assert outcome.bytes_up == outcome.bytes_down == 2 * 3 * 4 * numbers * leaves


def test_clients_are_weighed_by_their_training_graphs() -> None:
    problem = toy_graphs((3, 5), (2, 3), (15, 11))
    chosen = TrainingSettings.model_validate(SMALL["graph"])
    method = build("fedstar", {}, chosen)
    cell = describe(problem, method, (0,), DOUBLE)
    weights = method.mixing({}, Exchange(cell, 1, None, {}))
    assert np.allclose(weights[0], [[9 / 14, 5 / 14]] * 2)
    uniform = build("fedstar", {"weights": "uniform"}, chosen).mixing({}, Exchange(cell, 1, None, {}))
    assert np.allclose(uniform[0], 1 / 2)


def test_what_others_know_of_structure_reaches_a_client() -> None:
    """A client's loss changes when structure is shared, from the second round on."""
    losses = []
    for variant in ("default", "alone"):
        outcome = run(method_of("fedstar", variant, SMALL["graph"] | {"rounds": 2}), toy_graphs(), (0,), DOUBLE)
        losses.append(series(outcome.history, "train", "loss"))
    assert np.array_equal(losses[0][0], losses[1][0])
    assert (np.abs(losses[0][1] - losses[1][1]) > 1e-6).all()


def test_clients_of_one_width_are_computed_alone_or_together_alike() -> None:
    method, problem = method_of("fedstar", "default", SMALL["graph"] | {"rounds": 3}), toy_graphs((4, 4), (2, 2))
    apart, together = run(method, problem, (2,), DOUBLE), run(method, problem, (2, 5), DOUBLE)
    both = series(together.history, "train", "loss").reshape(3, 2, -1)[:, 0]
    assert np.allclose(both, series(apart.history, "train", "loss"), atol=1e-9, rtol=0)
