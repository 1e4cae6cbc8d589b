"""Small parts by hand: operators, sampling, scales, counts, order of generated neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from fedbench.neighgen.cross_client import Neighbours
from fedbench.neighgen.draws import Draws, Layer, Phase
from fedbench.neighgen.network import declare, places, start, whole
from fedbench.neighgen.operators import attach, features, row_normalised
from fedbench.neighgen.scale import largest_one
from fedbench.neighgen.settings import NeighGenSettings
from tests.neighgen.plain import CPU, DOUBLE, adjacency, averaging, dense
from tests.toys import toy_problem

GRAPH = toy_problem((14,)).client_graph(0)


def test_row_normalised_operator() -> None:
    ours = row_normalised(GRAPH.edges, GRAPH.size, DOUBLE, CPU) @ torch.eye(GRAPH.size, dtype=DOUBLE)
    torch.testing.assert_close(ours, averaging(adjacency(GRAPH)))


def test_attached_nodes_are_joined_both_ways() -> None:
    edges = attach(np.array([[0, 1], [1, 0]]), 2, np.array([1, 1]))
    assert edges.tolist() == [[0, 1, 1, 1, 2, 3], [1, 0, 2, 3, 1, 1]]


def test_features_of_some_nodes_and_their_norms() -> None:
    nodes, x = np.array([1, 4, 5, 11]), dense(GRAPH, 12)[[1, 4, 5, 11]]
    found = features(GRAPH, 12, DOUBLE, CPU, nodes)
    torch.testing.assert_close(found.matrix @ torch.eye(12, dtype=DOUBLE), x)
    torch.testing.assert_close(found.squares, (x**2).sum(1))


def test_samples_are_neighbours_and_all_turn_up() -> None:
    lists = Neighbours.of(0, GRAPH, features(GRAPH, 12, DOUBLE, CPU))
    drawn = lists.sample(3000, 4, np.random.default_rng(0))
    neighbours = {v: {int(t) for s, t in GRAPH.edges.T if s == v} for v in range(GRAPH.size)}
    assert all(any(set(row.tolist()) <= near for near in neighbours.values()) for row in drawn)
    assert set(drawn.ravel().tolist()) == set(GRAPH.edges[1].tolist())


def test_nodes_without_neighbours_are_not_drawn() -> None:
    """Nodes 0 and 1 are joined, the rest alone: all draws are one of them, each about half the time."""
    pair = replace(GRAPH, edges=np.array([[0, 1], [1, 0]]))
    drawn = Neighbours.of(0, pair, features(pair, 12, DOUBLE, CPU)).sample(2000, 2, np.random.default_rng(0))
    assert set(drawn.ravel().tolist()) == {0, 1}
    assert 0.45 < (drawn[:, 0] == 0).mean() < 0.55


def test_rows_scaled_to_a_largest_entry_of_one() -> None:
    counts = np.bincount(GRAPH.feature_rows, minlength=GRAPH.size)
    words = replace(GRAPH, feature_values=(1.0 / counts)[GRAPH.feature_rows].astype(np.float32))
    scaled, back = largest_one(words)
    np.testing.assert_allclose(scaled.feature_values, 1.0)
    assert back == pytest.approx((1.0 / counts[counts > 0]).mean())


@pytest.mark.parametrize(("how", "expected"), [("round", [0, 0, 1, 2, 5, 5]), ("truncate", [0, 0, 0, 1, 4, 5])])
def test_counts_become_whole_within_bounds(how: str, expected: list[int]) -> None:
    predicted = torch.tensor([0.0, 0.4, 0.6, 1.7, 4.9, 88.0])
    assert whole(predicted, NeighGenSettings.model_validate({"counts": how})).tolist() == expected


def test_order_of_generated_neighbours() -> None:
    assert places(torch.tensor([1, 0, 3, 2]), 3).tolist() == [0, 2, 3, 2, 3, 2]


def test_clients_start_apart_and_within_the_released_bounds() -> None:
    declared = declare(9, 3, NeighGenSettings(encoder_width=4, latent=16, generator_widths=(25, 36)))
    one, other = (start(declared, 0, client, DOUBLE, CPU) for client in (0, 1))
    assert all(not torch.equal(one[name], other[name]) for name in declared)
    for name, bound in {"encoder.0.weight": 1 / 2, "encoder.1.bias": 1 / 4, "count.weight": 1 / 4,
                        "generator.1.weight": 1 / 5, "generator.out.2.weight": 1 / 6}.items():  # fmt: skip
        assert 0.5 * bound < one[name].abs().max() <= bound


def test_every_draw_has_a_stream_of_its_own() -> None:
    """Noise and dropout differ by seed, client, phase and epoch, dropout by layer too; redrawn they are the same."""
    names = [(0, 0, Phase.LOCAL, 0), (1, 0, Phase.LOCAL, 0), (0, 1, Phase.LOCAL, 0), (0, 0, Phase.FEDERATED, 0),
             (0, 0, Phase.LOCAL, 1)]  # fmt: skip
    draws = [Draws(*name, 0.5, DOUBLE, CPU) for name in names]
    ones = torch.ones(6, 20, dtype=DOUBLE)
    noise = [tuple(one.noise(4, 5).flatten().tolist()) for one in draws]
    dropped = [tuple(one.drop(ones, layer).flatten().tolist()) for one in draws for layer in Layer]
    assert len(set(noise)) == 5
    assert len(set(dropped)) == 15
    assert set(dropped[0]) == {0.0, 2.0}
    assert tuple(draws[0].drop(ones, Layer.ENCODER).flatten().tolist()) == dropped[0]
    assert draws[0].sampler(1).random() != draws[0].sampler(2).random()
