"""The canonical order on small graphs full of look-alikes: the same arrays for isomorphic graphs, and only for them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fedbench.datasets.canonical import content_order
from fedbench.datasets.raw import RawNodes, raw_nodes, reordered


def raw_of(graph: nx.Graph, kinds: list[int] | None = None) -> RawNodes:
    """Return a graph whose nodes have one of few contents (``kinds``: class and only feature)."""
    kinds = kinds or [0] * len(graph)
    edges = np.array(list(graph.edges), dtype=np.int64).reshape(-1, 2).T
    x = sparse.csr_matrix(np.array(kinds, dtype=np.float32)[:, None])
    return raw_nodes(x, np.array(kinds), edges)


def form(raw: RawNodes) -> tuple[bytes, ...]:
    """Return the arrays in canonical order, as bytes."""
    raw = reordered(raw, content_order(raw))
    return tuple(a.tobytes() for a in (raw.y, raw.edges, raw.x.indptr, raw.x.indices, raw.x.data))


@st.composite
def graphs(draw, most=8):
    nodes = draw(st.integers(1, most))
    pairs = [(a, b) for a in range(nodes) for b in range(a)]
    graph = nx.empty_graph(nodes)
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    return graph, draw(st.lists(st.integers(0, 1), min_size=nodes, max_size=nodes))


@settings(max_examples=300, deadline=None)
@given(graphs(), st.integers(0, 2**32 - 1))
def test_any_input_order_gives_the_same_arrays(drawn, seed):
    raw = raw_of(*drawn)
    order = np.random.default_rng(seed).permutation(raw.y.size)
    assert form(reordered(raw, order)) == form(raw)


@settings(max_examples=150, deadline=None)
@given(graphs(5), graphs(5))
def test_same_arrays_exactly_for_isomorphic_graphs(one, other):
    for graph, kinds in (one, other):
        nx.set_node_attributes(graph, dict(enumerate(kinds)), "kind")
    same = nx.is_isomorphic(one[0], other[0], node_match=lambda a, b: a["kind"] == b["kind"])
    assert (form(raw_of(*one)) == form(raw_of(*other))) == same


def rook() -> nx.Graph:
    return nx.convert_node_labels_to_integers(nx.line_graph(nx.complete_bipartite_graph(4, 4)))


def shrikhande() -> nx.Graph:
    steps = [(0, 1), (1, 0), (1, 1)]
    nodes = [(a, b) for a in range(4) for b in range(4)]
    edges = [((a, b), ((a + c) % 4, (b + d) % 4)) for a, b in nodes for c, d in steps]
    return nx.convert_node_labels_to_integers(nx.Graph(edges))


HARD = {
    "rook": rook(),
    "shrikhande": shrikhande(),
    "rook beside shrikhande": nx.disjoint_union(rook(), shrikhande()),
    "petersen": nx.petersen_graph(),
    "two triangles and a hexagon": nx.disjoint_union_all([nx.cycle_graph(3), nx.cycle_graph(3), nx.cycle_graph(6)]),
    "nine equal paths": nx.disjoint_union_all([nx.path_graph(4)] * 9),
    "cube": nx.convert_node_labels_to_integers(nx.hypercube_graph(4)),
    "star": nx.star_graph(30),
    "clique": nx.complete_graph(12),
    "many isolated": nx.empty_graph(40),
    "equal cliques": nx.disjoint_union_all([nx.complete_graph(4)] * 4),
    "frucht and its like": nx.disjoint_union_all([nx.frucht_graph(), nx.frucht_graph(), nx.dodecahedral_graph()]),
}


@pytest.mark.parametrize("name", HARD)
def test_graphs_that_refinement_alone_can_not_order(name):
    raw = raw_of(HARD[name])
    forms = {form(reordered(raw, np.random.default_rng(seed).permutation(raw.y.size))) for seed in range(5)}
    assert forms == {form(raw)}


def test_strongly_regular_graphs_of_equal_parameters_differ():
    assert form(raw_of(HARD["rook"])) != form(raw_of(HARD["shrikhande"]))


def test_stored_zeros_and_duplicate_edges_do_not_count():
    x = sparse.csr_matrix(([1.0, 0.0], ([0, 1], [0, 0])), (3, 1))
    messy = raw_nodes(x, np.zeros(3), np.array([[0, 1, 0, 2, 2], [1, 0, 1, 2, 1]]))
    assert messy.x.nnz == 1
    assert messy.edges.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
