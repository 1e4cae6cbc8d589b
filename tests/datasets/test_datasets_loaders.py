"""The npz and text loaders: small files by hand, the mirror's by plain NumPy, and nothing unpickled."""

import os
import pickle
import shutil
import zipfile

import networkx as nx
import numpy as np
import pytest
from datasets_support import entry_of
from scipy import sparse

from fedbench.datasets import build_graphs, build_nodes, film, gnn_benchmark, heterophilous
from fedbench.datasets.build import build_dataset
from fedbench.datasets.members import read_members
from fedbench.errors import DataError
from fedbench.sources.check import check
from fedbench.sources.formats import FilmFiles, GnnBenchmarkFile, GraphLoader, HeterophilousFile, NodeLoader
from fedbench.sources.note import write_note

BENCHMARK = GnnBenchmarkFile(format="gnn-benchmark", file="g.npz")
HETEROPHILOUS = HeterophilousFile(format="heterophilous", file="h.npz")
FILM = FilmFiles(format="film")


class Evil:
    def __reduce__(self):
        return os.mkdir, ("evil",)


def parts(prefix: str, matrix: np.ndarray) -> dict[str, np.ndarray]:
    csr = sparse.csr_matrix(matrix)
    return {f"{prefix}_{part}": np.array(getattr(csr, part)) for part in ("data", "indices", "indptr", "shape")}


def benchmark_arrays() -> dict[str, np.ndarray]:
    adjacency, counts = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 0]]), np.array([[0, 3], [1, 0], [0, 0]])
    return parts("adj", adjacency) | parts("attr", counts) | {"labels": np.array([1, 0, 1])}


def test_a_gnn_benchmark_file_by_hand_with_names_that_stay_closed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("g.npz", **benchmark_arrays(), class_names=np.array([Evil()], dtype=object))
    raw = gnn_benchmark.load(tmp_path, BENCHMARK)
    assert raw.y.tolist() == [1, 0, 1]
    assert raw.x.toarray().tolist() == [[0, 1], [1, 0], [0, 0]]
    assert raw.edges.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("member", ["labels", "adj_data"])
def test_python_objects_are_never_unpickled(member, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pickle, "load", lambda *_, **__: pytest.fail("unpickled"))
    np.savez("g.npz", **benchmark_arrays() | {member: np.array([Evil()], dtype=object)})
    with pytest.raises(DataError, match="Object arrays cannot be loaded"):
        gnn_benchmark.load(tmp_path, BENCHMARK)
    assert not (tmp_path / "evil").exists()


def test_a_missing_array_and_a_broken_file_are_errors(tmp_path):
    np.savez(tmp_path / "h.npz", node_features=np.zeros((2, 1)), edges=np.zeros((0, 2)))
    with pytest.raises(DataError, match="node_labels"):
        heterophilous.load(tmp_path, HETEROPHILOUS)
    (tmp_path / "h.npz").write_bytes((tmp_path / "h.npz").read_bytes()[:100])
    with pytest.raises(DataError, match="fetch the file again"):
        read_members(tmp_path / "h.npz", ("edges",))


def test_a_heterophilous_file_by_hand(tmp_path):
    x = np.array([[0.25, 0], [0, 0.5], [0, 0]], dtype=np.float32)
    np.savez(tmp_path / "h.npz", node_features=x, node_labels=np.array([0, 1, 1]), edges=np.array([[2, 0], [0, 1]]))
    raw = heterophilous.load(tmp_path, HETEROPHILOUS)
    assert raw.x.toarray().tolist() == x.tolist()
    assert raw.y.tolist() == [0, 1, 1]
    assert raw.edges.tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]]


def write_film(folder, lines):
    (folder / film.NODES).write_text("\n".join(["node_id\tfeature\tlabel", *lines, ""]))
    (folder / film.EDGES).write_text("node_id\tnode_id\n2\t0\n0\t0\n0\t2\n1\t2\n")


def test_film_files_by_hand(tmp_path):
    write_film(tmp_path, ["2\t0,3\t1", "0\t1,1\t0", "1\t2\t4"])
    raw = film.load(tmp_path, FILM)
    assert raw.y.tolist() == [0, 4, 1]
    assert raw.x.toarray().tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]]
    assert raw.edges.tolist() == [[0, 1, 2, 2], [2, 2, 0, 1]]


def test_film_nodes_that_are_not_numbered_through_are_refused(tmp_path):
    write_film(tmp_path, ["2\t0,3\t1", "0\t1,1\t0", "3\t2\t4"])
    with pytest.raises(DataError, match="3 lines, 3 numbers from 0 to 3"):
        film.load(tmp_path, FILM)


@pytest.mark.parametrize("name", ["chameleon", "squirrel", "minesweeper", "tolokers"])
def test_features_are_kept_as_they_are(name, raw_folder, tmp_path):
    dataset = build_dataset(entry_of(name), raw_folder(name), tmp_path / "d.npz")
    with np.load(raw_folder(name) / entry_of(name).dataset.sources[0].files[0].name) as archive:
        x, y, edges = archive["node_features"], archive["node_labels"], archive["edges"]
    with np.load(tmp_path / "d.origin.npz") as origin:
        place = origin["raw_position"]
    kept = sparse.csr_matrix((dataset.x_data, dataset.x_indices, dataset.x_indptr), tuple(dataset.x_shape))
    assert np.array_equal(kept.toarray(), x[place])
    assert np.array_equal(dataset.y, y[place])
    ours = nx.Graph((place[dataset.edges]).T.tolist())
    assert nx.utils.graphs_equal(ours, nx.Graph(edges.tolist()))


def test_the_original_file_gives_the_same_bytes_as_the_mirrors(raw_folder, tmp_path):
    entry = entry_of("photo")
    original = entry.dataset.sources[1]
    (file,) = original.files
    (tmp_path / "raw").mkdir()
    with (
        zipfile.ZipFile(raw_folder("photo") / file.name) as packed,
        zipfile.ZipFile(tmp_path / "raw" / file.name, "w") as stored,
    ):
        for member in packed.namelist():
            with stored.open(member, "w") as stream:
                shutil.copyfileobj(packed.open(member), stream)
    check(tmp_path / "raw" / file.name, file)
    write_note(tmp_path / "raw", original)
    build_dataset(entry, tmp_path / "raw", tmp_path / "original.npz")
    build_dataset(entry, raw_folder("photo"), tmp_path / "mirror.npz")
    assert (tmp_path / "original.npz").read_bytes() == (tmp_path / "mirror.npz").read_bytes()


@pytest.mark.parametrize(("kinds", "loaders"), [(NodeLoader, build_nodes.LOADERS), (GraphLoader, build_graphs.LOADERS)])
def test_every_format_of_the_catalogue_has_a_loader(kinds, loaders):
    assert {kind.model_fields["format"].annotation.__args__[0] for kind in kinds.__args__} == set(loaders)
