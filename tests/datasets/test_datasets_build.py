"""Data set files: checks before and after loading, subsets, and reading back."""

import json
import shutil
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from datasets_support import CONFIGS, entry_of
from scipy import sparse

from fedbench.cli.__main__ import main
from fedbench.datasets import build_nodes, linqs, unpickle
from fedbench.datasets.build import build_dataset
from fedbench.datasets.node import NodeDataset
from fedbench.datasets.prepare import ball, largest_component, row_normalised
from fedbench.datasets.raw import raw_nodes
from fedbench.errors import DataError, SourceError
from fedbench.files import sha256_of, write_arrays
from fedbench.sources.formats import LinqsFiles


@pytest.fixture
def copied(raw_folder, tmp_path):
    return shutil.copytree(raw_folder("cora"), tmp_path / "raw")


def test_a_changed_raw_file_is_never_opened(copied, tmp_path, monkeypatch):
    path = copied / "ind.cora.tx"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    monkeypatch.setattr(unpickle.pickle, "Unpickler", lambda *_: pytest.fail("opened an unchecked file"))
    monkeypatch.setattr(build_nodes, "load_raw", lambda *_: pytest.fail("loaded an unchecked file"))
    with pytest.raises(SourceError, match="sha256"):
        build_dataset(entry_of("cora"), copied, tmp_path / "d.npz")
    assert not list(tmp_path.glob("*.npz"))


def test_raw_files_of_an_unknown_source_are_refused(copied, tmp_path):
    (copied / "source.json").write_text(json.dumps({"source": "elsewhere"}))
    with pytest.raises(SourceError, match="'elsewhere'"):
        build_dataset(entry_of("cora"), copied, tmp_path / "d.npz")


def test_a_folder_that_was_never_filled(tmp_path):
    with pytest.raises(SourceError, match="fedbench fetch"):
        build_dataset(entry_of("cora"), tmp_path, tmp_path / "d.npz")


@pytest.mark.parametrize("part", ["raw", "component"])
def test_other_counts_than_the_catalogues_are_an_error(part, raw_folder, tmp_path):
    entry = entry_of("cora")
    counts = getattr(entry.dataset, part)
    wrong = counts.model_copy(update={"nodes": 9999})
    entry = entry.model_copy(update={"dataset": entry.dataset.model_copy(update={part: wrong})})
    with pytest.raises(DataError) as caught:
        build_dataset(entry, raw_folder("cora"), tmp_path / "d.npz")
    assert caught.value.found == f"{counts.nodes:,} nodes"
    assert caught.value.allowed == "9,999 nodes"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "classes"), [("cora-mini", 7), ("citeseer-mini", 6), ("photo-mini", 6)])
def test_a_subset_is_a_connected_piece_of_its_parent(name, classes, raw_folder, tmp_path):
    folder = raw_folder(name.removesuffix("-mini"))
    small = build_dataset(entry_of(name), folder, tmp_path / "small.npz")
    whole = build_dataset(entry_of(name.removesuffix("-mini")), folder, tmp_path / "whole.npz")
    assert nx.is_connected(nx.Graph(small.edges.T.tolist()))
    assert np.unique(small.y).size == classes
    assert small.classes == whole.classes == np.unique(whole.y).size
    place = np.searchsorted(whole.node_id, small.node_id)
    assert np.array_equal(whole.node_id[place], small.node_id)
    inside = nx.Graph(whole.edges.T.tolist()).subgraph(place.tolist())
    assert {(place[a], place[b]) for a, b in small.edges.T} == set(inside.to_directed().edges)


def test_a_data_set_file_reads_back(raw_folder, tmp_path):
    path = tmp_path / "d.npz"
    written = build_dataset(entry_of("cora-mini"), raw_folder("cora"), path)
    read = NodeDataset.read(path)
    assert read.digest == sha256_of(path)
    assert (read.name, read.nodes, read.classes) == ("cora-mini", 300, 7)
    assert np.array_equal(read.edges, written.edges)
    assert {a.dtype for a in (read.edges, read.y, read.node_id, read.x_indptr)} == {np.dtype(np.int64)}


def test_another_file_is_not_a_data_set(tmp_path):
    write_arrays(tmp_path / "p.npz", {"client": np.zeros(1)}, {"task": "node"})
    with pytest.raises(DataError, match="client"):
        NodeDataset.read(tmp_path / "p.npz")


def test_reading_is_light():
    program = "import sys, fedbench.datasets.node, fedbench.datasets.origin, fedbench.partition.store\n"
    program += "print(sorted({'scipy', 'pandas', 'pymetis', 'torch', 'requests', 'pydantic'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_needs_no_torch():
    program = "import sys, fedbench.datasets.build, fedbench.partition.build; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_linqs_files(tmp_path):
    (tmp_path / "t.content").write_text("p9\t1\t0\tb\np3\t0\t1\ta\n")
    (tmp_path / "t.cites").write_text("p3\tp9\np9\tp9\n")
    raw = linqs.load(tmp_path, LinqsFiles(format="linqs", prefix="t", classes=("a", "b")))
    assert raw.y.tolist() == [1, 0]
    assert raw.x.toarray().tolist() == [[1, 0], [0, 1]]
    assert raw.edges.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(DataError, match="unknown class b"):
        linqs.load(tmp_path, LinqsFiles(format="linqs", prefix="t", classes=("a",)))


def test_preparation_on_a_small_graph():
    edges = np.array([[0, 1, 4, 5, 6], [1, 2, 5, 6, 4]])  # components {0, 1, 2}, {3}, {4, 5, 6}
    raw = raw_nodes(sparse.csr_matrix((7, 2)), np.array([0, 1, 2, 0, 0, 0, 0]), edges)
    assert largest_component(raw).tolist() == [0, 1, 2]
    assert ball(raw, 2).tolist() == [0, 1]
    x = row_normalised(sparse.csr_matrix(np.array([[1, 3], [0.25, 0.25], [0, 0]], dtype=np.float32)))
    assert x.toarray().tolist() == [[0.25, 0.75], [0.25, 0.25], [0, 0]]


def test_the_road_from_the_command_line(raw_folder, tmp_path, capsys):
    raw_folder("cora-mini")  # skips without the mirror
    configs = ["--configs", str(CONFIGS)]
    assert main(["fetch", "cora-mini", "--out", str(tmp_path / "raw"), *configs]) == 0
    out = tmp_path / "cora-mini.npz"
    assert main(["dataset", "cora-mini", "--raw", str(tmp_path / "raw"), "--out", str(out), *configs]) == 0
    assert "300 nodes, 582 edges, 1,433 features, 7 classes" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.glob("*.npz")) == ["cora-mini.npz", "cora-mini.origin.npz"]
