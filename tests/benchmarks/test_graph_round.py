"""The sides of the graph benchmark compute the same federation: the same graphs, steps and accuracies."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from benchmarks.bare_graphs import Bare
from benchmarks.cases.graph_round import results, training_of
from tests.reference.match import plain_graph_set
from tests.tasks.toy_graphs import toy_graphs

pytest.importorskip("torch_geometric")


def loop_of(problem, training):
    from benchmarks.pyg_graphs import Loop

    return Loop(problem, training)


def test_the_loops_graphs_are_those_of_the_problem():
    from benchmarks.pyg_graphs import as_data

    problem = toy_graphs()
    for client, shape in zip(problem.client_data, problem.shapes, strict=True):
        expected = plain_graph_set(client, (0, 0), None, torch.float32)
        for place, graph in enumerate(as_data(client, shape)):
            assert torch.equal(graph.x, expected.x[place])
            pairs = [{tuple(pair) for pair in edges.T.tolist()} for edges in (graph.edge_index, expected.edges[place])]
            assert pairs[0] == pairs[1]
            assert (int(graph.y), graph.split) == (int(expected.y[place]), int(expected.split[place]))


def test_a_round_of_the_loop_trains_and_averages_the_convolutions_alone():
    problem, training = toy_graphs(), training_of(2, 8, 1)
    loop = loop_of(problem, training)
    before = [nn.utils.parameters_to_vector(model.parameters()).clone() for model in loop.models]
    found = loop.round()
    assert len(found) == problem.clients and all(0 <= value <= 1 for value in found)
    first = loop.models[0].convs.state_dict()
    assert all(torch.equal(first[name], loop.models[1].convs.state_dict()[name]) for name in first)
    after = [nn.utils.parameters_to_vector(model.parameters()) for model in loop.models]
    assert all(not torch.equal(*pair) for pair in zip(before, after, strict=True))


def test_the_bare_side_has_every_step_of_a_round():
    problem = toy_graphs()
    training = training_of(2, 8, 1).model_copy(update={"batch_size": 4})
    bare = Bare.of(problem, training)
    assert len(bare.batches) == sum(-(-int(n) // 4) for n in problem.train_nodes_per_client)
    nodes = sum(batch.sizes[0] for batch in bare.batches)
    train = [np.diff(client.nodes)[client.of_split("train")].sum() for client in problem.client_data]
    assert nodes == sum(train)
    bare.round()


def test_ratios_are_of_the_other_side_to_ours():
    rows = results({"ours": [100.0, 90.0], "loop": [450.0, 400.0], "bare": [50.0, 45.0]}, "2 x 64", 4.0)
    assert [row.ratio for row in rows] == pytest.approx([425 / 95, 400 / 90, 47.5 / 95, 0.5])
    assert [row.target for row in rows] == [">= 4", ">= 4", ">= 0.5", ">= 0.5"]
