"""Files made for benchmarks are what the suite reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.graphs import Problem, from_peer, synthetic
from fedbench.tasks.node.arrays import NodeProblem, load_problem


def load(problem: Problem) -> NodeProblem:
    return load_problem(problem.dataset, problem.partition)


def test_synthetic_clients_are_alike_and_closed(tmp_path: Path) -> None:
    problem = load(synthetic(tmp_path, clients=3, nodes=50, features=40))
    graphs = [problem.client_graph(client) for client in range(3)]
    assert [graph.size for graph in graphs] == [50, 50, 50]
    assert sum(graph.edges.shape[1] for graph in graphs) == problem.data["edges"].shape[1]
    assert all((graph.edges[0] != graph.edges[1]).all() for graph in graphs)
    assert problem.width == 40


def test_synthetic_edges_go_both_ways(tmp_path: Path) -> None:
    edges = load(synthetic(tmp_path, clients=2, nodes=30)).data["edges"]
    assert np.array_equal(np.unique(edges, axis=1), np.unique(edges[::-1], axis=1))


def test_the_peers_export_keeps_graph_clients_and_splits(tmp_path: Path) -> None:
    x = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32)
    exported = tmp_path / "exported.npz"
    columns = {"client": [1, 0, 0], "node": [2, 1, 0], "split": [2, 1, 0]}
    arrays = {name: np.array(column) for name, column in columns.items()}
    np.savez(exported, x=x, edges=np.array([[1, 0], [0, 1]]), y=np.array([0, 1, 0]), **arrays)
    problem = load(from_peer(exported, tmp_path / "ours"))
    first, second = problem.client_graph(0), problem.client_graph(1)
    assert first.split.tolist() == [0, 1]
    assert first.edges.tolist() == [[0, 1], [1, 0]]
    assert second.feature_columns.tolist() == [0, 1]
    assert second.labels.tolist() == [0]
