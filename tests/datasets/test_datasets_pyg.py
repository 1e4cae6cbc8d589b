"""The loaders and the preparation against PyG's own, and the components against networkx."""

import os
import shutil
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from datasets_support import entry_of
from scipy import sparse

from fedbench.datasets.build import build_dataset
from fedbench.datasets.origin import origin_path, read_origin

pytest.importorskip("torch_geometric")
# PyG's class, the folder it reads below its root, and the name it is given.
PYG = {
    "cora": ("Planetoid", "Cora/raw", ("Cora",)),
    "citeseer": ("Planetoid", "CiteSeer/raw", ("CiteSeer",)),
    "pubmed": ("Planetoid", "PubMed/raw", ("PubMed",)),
    "computers": ("Amazon", "Computers/raw", ("Computers",)),
    "photo": ("Amazon", "Photo/raw", ("Photo",)),
    "cs": ("Coauthor", "CS/raw", ("CS",)),
    "physics": ("Coauthor", "Physics/raw", ("Physics",)),
    "actor": ("Actor", "raw", ()),
    "minesweeper": ("HeterophilousGraphDataset", "minesweeper/raw", ("Minesweeper",)),
    "tolokers": ("HeterophilousGraphDataset", "tolokers/raw", ("Tolokers",)),
}
NORMALISED = ("cora", "citeseer", "pubmed", "computers", "photo", "cs")


@pytest.fixture
def pyg(raw_folder, tmp_path):
    """Return a function: data set -> PyG's Data, read from a copy of the mirror's files; PyG saves nothing."""
    import torch_geometric.datasets as theirs

    def load(name):
        raw_folder(name)  # skips without the mirror
        kind, folder, given = PYG[name]
        (tmp_path / folder).mkdir(parents=True)
        for path in (Path(os.environ["FEDBENCH_MIRROR"]) / entry_of(name).dataset.sources[0].at).iterdir():
            shutil.copyfile(path, tmp_path / folder / path.name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return in_memory(getattr(theirs, kind))(tmp_path, *given).kept

    return load


def in_memory(kind):
    """Return a PyG class that keeps what it would save and read back: a co-author graph is a gigabyte."""

    class InMemory(kind):
        def save(self, data_list, path):
            (self.kept,) = data_list

        def load(self, path):
            pass

    return InMemory


def undirected(name: str, edge_index) -> np.ndarray:
    """Return int64[2, E] sorted by (source, target). PyG leaves only the actor graph directed and with self-loops."""
    from torch_geometric.utils import remove_self_loops, to_undirected

    if name == "actor":
        edge_index = to_undirected(remove_self_loops(edge_index)[0])
    edges = edge_index.numpy()
    return edges[:, np.lexsort((edges[1], edges[0]))]


def same(one: sparse.csr_matrix, other: np.ndarray) -> bool:
    return one.shape == other.shape and (one != sparse.csr_matrix(other)).nnz == 0


@pytest.mark.parametrize("name", PYG)
def test_the_whole_graph_is_pygs_in_the_same_order(name, raw_of, pyg):
    raw, data = raw_of(name), pyg(name)
    assert np.array_equal(raw.y, data.y.numpy())
    assert same(raw.x, data.x.numpy())
    assert np.array_equal(raw.edges, undirected(name, data.edge_index))


@pytest.mark.parametrize("name", NORMALISED)
def test_the_data_set_is_pygs_component_in_another_order(name, raw_folder, pyg, tmp_path):
    from torch_geometric.transforms import NormalizeFeatures

    dataset = build_dataset(entry_of(name), raw_folder(name), tmp_path / "d.npz")
    place = read_origin(origin_path(tmp_path / "d.npz")).raw_position
    data = NormalizeFeatures()(pyg(name))
    graph = nx.Graph(data.edge_index.numpy().T.tolist())
    graph.add_nodes_from(range(data.num_nodes))
    assert set(place.tolist()) == max(nx.connected_components(graph), key=len)
    assert np.array_equal(dataset.y, data.y.numpy()[place])
    x = sparse.csr_matrix((dataset.x_data, dataset.x_indices, dataset.x_indptr), tuple(dataset.x_shape))
    theirs = sparse.csr_matrix(data.x.numpy())[place]
    assert np.array_equal(x.indptr, theirs.indptr)
    assert np.array_equal(x.indices, theirs.indices)
    np.testing.assert_allclose(x.data, theirs.data, rtol=2e-6, atol=0)
    kept = nx.relabel_nodes(graph.subgraph(place.tolist()), {int(raw): new for new, raw in enumerate(place)})
    assert {tuple(edge) for edge in dataset.edges.T.tolist()} == set(kept.to_directed().edges)


def test_citeseers_unlisted_test_nodes_are_empty_and_of_class_0(raw_of, raw_folder):
    raw = raw_of("citeseer")
    test = np.loadtxt(raw_folder("citeseer") / "ind.citeseer.test.index", dtype=int)
    missing = np.setdiff1d(np.arange(test.min(), test.max() + 1), test)
    assert missing.size == 15
    assert raw.x[missing].nnz == 0
    assert sorted(np.bincount(raw.edges[0])[missing]) == [1] * 14 + [2]
    assert (raw.y[missing] == 0).all()
