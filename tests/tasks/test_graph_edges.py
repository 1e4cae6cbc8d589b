"""Batches by nodes and edges, and graphs' spectra, against dense matrices of single graphs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedbench.kernels.edges import weighted_sum
from fedbench.tasks.graph.arrays import ClientGraphs
from fedbench.tasks.graph.coloured_edges import ColouredEdgeBlock
from fedbench.tasks.graph.colours import Rows
from fedbench.tasks.graph.edges import EdgeBlock, with_edges_only
from fedbench.tasks.graph.spectra import SpectralBlock, spectra_of
from fedbench.tasks.task import Place
from tests.tasks.toy_graphs import toy_graphs

DOUBLE = Place(torch.float64)
CHOSEN = [np.array([7, 2, 3]), np.array([0]), np.array([4, 5])]


def path_and_dots() -> ClientGraphs:
    """A path of three nodes 0-1-2, a node alone, a pair 4-5; features are the nodes' numbers."""
    start, columns = np.array([0, 2, 5, 7, 8, 10, 12]), np.array([0, 1, 0, 1, 2, 1, 2, 3, 4, 5, 4, 5])
    features = Rows(np.arange(7), np.zeros(6, dtype=np.int64), np.arange(6.0), 1)
    return ClientGraphs(np.array([0, 1, 0]), np.array([0, 0, 2]), np.array([0, 3, 4, 6]), start, columns, features, 2)


def adjacency(client: ClientGraphs, graph: int) -> np.ndarray:
    first, stop = client.nodes[graph : graph + 2]
    dense = np.zeros((stop - first, stop - first))
    for node in range(first, stop):
        near = client.neighbours[client.start[node] : client.start[node + 1]]
        dense[node - first, near[near != node] - first] = 1
    return dense


def test_a_batch_by_hand() -> None:
    batch = EdgeBlock([path_and_dots()], DOUBLE).batch([np.array([2, 0])])
    assert batch.sizes == (5,) and batch.edge_sizes == (6,)
    pairs = list(zip(batch.edges.targets.tolist(), batch.edges.sources.tolist(), strict=True))
    assert pairs == [(0, 1), (1, 0), (2, 3), (3, 2), (3, 4), (4, 3)]
    assert batch.lower.tolist() == [0, 2, 4] and batch.graph.tolist() == [0, 1, 1]
    assert batch.graph_pairs.tolist() == [1, 2] and batch.nodes.flatten().tolist() == [2, 3]
    assert (batch.first @ torch.ones(1, 1, dtype=torch.float64)).flatten().tolist() == [4, 5, 0, 1, 2]
    assert batch.labels.tolist() == [0, 0]


def test_edges_of_packed_clients_are_their_own_graphs() -> None:
    problem = toy_graphs()
    batch = EdgeBlock(problem.client_data, DOUBLE).batch(CHOSEN)
    eye = torch.eye(3 * batch.slots, dtype=torch.float64)
    found = weighted_sum(batch.edges, torch.ones(len(batch.edges), dtype=torch.float64), eye)
    for place, (client, graphs) in enumerate(zip(problem.client_data, CHOSEN, strict=True)):
        own = torch.block_diag(*(torch.from_numpy(adjacency(client, g)) for g in graphs))
        rows = slice(place * batch.slots, place * batch.slots + len(own))
        assert torch.equal(found[rows, rows], own)
        found[rows, rows] = 0
    assert not found.any()


def test_spectrum_of_a_path_is_0_1_3() -> None:
    spectra = spectra_of(path_and_dots())
    assert spectra.values == pytest.approx([0, 1, 3, 0, 0, 2])


def test_eigenpairs_give_the_laplacian_back() -> None:
    client = toy_graphs((3,), (2,), 20).client_data[0]
    spectra = spectra_of(client)
    for graph, (first, stop) in enumerate(zip(client.nodes[:-1], client.nodes[1:], strict=True)):
        u = spectra.vectors[spectra.start[first] : spectra.start[stop]].reshape(stop - first, -1)
        dense = adjacency(client, graph)
        assert np.allclose(u * spectra.values[first:stop] @ u.T, np.diag(dense.sum(1)) - dense)


def test_products_read_filters_at_the_edges() -> None:
    """U diag(s) U' of every graph, dense, at its edges in both directions; a matrix of ones and zeros elsewhere."""
    problem = toy_graphs()
    block = SpectralBlock(problem.client_data, DOUBLE)
    batch = block.batch(CHOSEN)
    s = torch.from_numpy(np.random.default_rng(0).standard_normal((3 * batch.slots, 2)))
    found = batch.both @ (batch.products @ s)
    eye = torch.eye(3 * batch.slots, dtype=torch.float64)
    back = batch.products.transposed @ torch.eye(batch.products.shape[0], dtype=torch.float64)
    assert torch.equal(batch.products @ eye, back.T)
    dense = torch.zeros(3 * batch.slots, 3 * batch.slots, 2, dtype=torch.float64)
    for place, (client, graphs) in enumerate(zip(problem.client_data, CHOSEN, strict=True)):
        at = place * batch.slots
        for graph in graphs:
            first, stop = client.nodes[graph : graph + 2]
            spectra, n = spectra_of(client), stop - first
            u = torch.from_numpy(spectra.vectors[spectra.start[first] : spectra.start[stop]].reshape(n, n))
            dense[at : at + n, at : at + n] = torch.einsum("if,fm,jf->ijm", u, s[at : at + n], u)
            assert torch.equal(batch.codes.flatten()[at : at + n], torch.from_numpy(spectra.values[first:stop]))
            at += n
    assert torch.allclose(found, dense[batch.edges.targets.long(), batch.edges.sources.long()])


def test_graphs_without_edges_can_be_dropped() -> None:
    client = with_edges_only(path_and_dots())
    assert client.labels.tolist() == [0, 0] and client.split.tolist() == [0, 2] and client.nodes.tolist() == [0, 3, 5]
    assert client.neighbours.tolist() == [0, 1, 0, 1, 2, 1, 2, 3, 4, 3, 4]
    assert client.features.values.tolist() == [0, 1, 2, 4, 5]


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_ends_of_edges_have_the_colours_that_convolutions_give_their_nodes(layers: int) -> None:
    """A network without dropout on every node, and on colours looked up at both ends."""
    problem = toy_graphs()
    batch = ColouredEdgeBlock(problem.client_data, DOUBLE, layers).batch(CHOSEN)
    width = batch.first.shape[1] // 3
    mixing = torch.from_numpy(np.random.default_rng(0).standard_normal((3 * width, 4)))
    by_node, by_colour = batch.first @ mixing, batch.colours.first @ mixing
    ones = torch.ones(len(batch.edges), dtype=torch.float64)
    for layer in range(1, layers + 1):
        by_node = torch.tanh(by_node + weighted_sum(batch.edges, ones, by_node))
        by_colour = torch.tanh(by_colour if layer == 1 else batch.colours.neighbours(layer) @ by_colour)
    assert len(by_colour) < len(by_node) or layers > 1
    assert torch.allclose(by_colour[batch.target_colours], by_node[batch.edges.targets.long()])
    assert torch.allclose(by_colour[batch.source_colours], by_node[batch.edges.sources.long()])
