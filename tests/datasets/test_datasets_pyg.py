"""The Planetoid loader and the preparation against PyG's own, and the components against networkx."""

import shutil
import warnings

import networkx as nx
import numpy as np
import pytest
from datasets_support import entry_of
from scipy import sparse

from fedbench.datasets.build import build_dataset
from fedbench.datasets.origin import origin_path, read_origin

pytest.importorskip("torch_geometric")
NAMES = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}


@pytest.fixture(scope="session")
def pyg(raw_folder, tmp_path_factory):
    """Return a function: data set -> PyG's Data with row-normalised features, read from a copy of the raw files."""
    from torch_geometric.datasets import Planetoid
    from torch_geometric.transforms import NormalizeFeatures

    def load(name, normalise=False):
        root = tmp_path_factory.mktemp("pyg")
        shutil.copytree(raw_folder(name), root / NAMES[name] / "raw")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Planetoid(root, NAMES[name], transform=NormalizeFeatures() if normalise else None)[0]

    return load


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_graph_is_pygs_in_the_same_order(name, raw_of, pyg):
    raw, data = raw_of(name), pyg(name)
    assert np.array_equal(raw.y, data.y.numpy())
    assert np.array_equal(raw.x.toarray(), data.x.numpy())
    swapped = data.edge_index.numpy()[::-1]  # PyG sorts by target
    assert np.array_equal(raw.edges, swapped)


@pytest.mark.parametrize("name", NAMES)
def test_the_data_set_is_pygs_component_in_another_order(name, raw_folder, pyg, tmp_path):
    dataset = build_dataset(entry_of(name), raw_folder(name), tmp_path / "d.npz")
    place = read_origin(origin_path(tmp_path / "d.npz")).raw_position
    data = pyg(name, normalise=True)
    graph = nx.Graph(data.edge_index.numpy().T.tolist())
    graph.add_nodes_from(range(data.num_nodes))
    assert set(place.tolist()) == max(nx.connected_components(graph), key=len)
    assert np.array_equal(dataset.y, data.y.numpy()[place])
    x = sparse.csr_matrix((dataset.x_data, dataset.x_indices, dataset.x_indptr), tuple(dataset.x_shape)).toarray()
    np.testing.assert_allclose(x, data.x.numpy()[place], rtol=2e-6, atol=0)
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
