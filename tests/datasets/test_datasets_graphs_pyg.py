"""The TU data sets against PyG's reader and transform, graph by graph; COLLAB against the mirror's arrays."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from datasets_support import entry_of
from scipy import sparse

from fedbench.datasets.build import build_dataset
from fedbench.datasets.build_graphs import load_raw
from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.graph_features import node_features

# The width of the features that GCFL's, FedStar's and FedSSP's code feeds in, and the size of the largest graph.
WIDTHS = {
    "mutag": (7, 28), "bzr": (53, 57), "cox2": (35, 56), "dhfr": (53, 71), "ptc-mr": (18, 64), "aids": (38, 95),
    "nci1": (37, 111), "peking-1": (190, 134), "ohsu": (190, 171), "proteins": (3, 620), "imdb-binary": (136, 136),
    "imdb-multi": (89, 89), "letter-high": (2, 9), "letter-med": (2, 9), "letter-low": (2, 8), "enzymes": (3, 126),
    "dd": (89, 5748),
}  # fmt: skip
ISOLATED = {"aids": 210, "nci1": 428, "proteins": 5, "mutag": 0}
EDGELESS = {"letter-high": 9, "letter-med": 9, "letter-low": 7, "mutag": 0}


@pytest.fixture
def pyg(tmp_path):
    """Return a function: data set -> PyG's collated data, slices and column counts, from the mirror's unpacked zip."""
    tu = pytest.importorskip("torch_geometric.io.tu")

    def load(name: str):
        source = entry_of(name).dataset.sources[0]
        with zipfile.ZipFile(Path(os.environ["FEDBENCH_MIRROR"]) / source.at / source.archive.name) as archive:
            archive.extractall(tmp_path)
        return tu.read_tu_data(str(tmp_path / source.archive.folder), source.archive.folder)

    return load


def sizes_of(data, slices) -> np.ndarray:
    return np.array(data._num_nodes) if data.x is None else np.diff(slices["x"].numpy())


def features(name: str, data, slices, sizes) -> np.ndarray:
    """Return PyG's features of all nodes: attributes are the first columns, labels the rest, degrees a transform."""
    kind = entry_of(name).dataset.features
    if kind.kind == "degree":
        return degrees(kind.largest, data, slices)
    attributes = sizes["num_node_attributes"]
    return (data.x[:, :attributes] if kind.kind == "attributes" else data.x[:, attributes:]).numpy()


def degrees(largest: int, data, slices) -> np.ndarray:
    from torch_geometric.data import Data
    from torch_geometric.transforms import OneHotDegree

    one_hot, rows = OneHotDegree(largest, cat=False), []
    for graph, nodes in enumerate(sizes_of(data, slices)):
        first, end = slices["edge_index"][graph : graph + 2]
        rows.append(one_hot(Data(edge_index=data.edge_index[:, first:end], num_nodes=int(nodes))).x.numpy())
    return np.concatenate(rows)


@pytest.mark.parametrize("name", WIDTHS)
def test_graphs_classes_edges_and_features_are_pygs(name, raw_folder, pyg, tmp_path):
    dataset = build_dataset(entry_of(name), raw_folder(name), tmp_path / "d.npz")
    data, slices, sizes = pyg(name)
    assert np.array_equal(dataset.y, data.y.numpy())
    assert np.array_equal(np.diff(dataset.graph_indptr), sizes_of(data, slices))
    assert np.array_equal(dataset.edge_indptr, slices["edge_index"].numpy())
    local = dataset.edges - np.repeat(dataset.graph_indptr[:-1], np.diff(dataset.edge_indptr))
    assert np.array_equal(local, data.edge_index.numpy())
    x = sparse.csr_matrix((dataset.x_data, dataset.x_indices, dataset.x_indptr), tuple(dataset.x_shape))
    assert x.has_canonical_format
    assert np.array_equal(x.toarray(), features(name, data, slices, sizes))

    check_facts(name, dataset)


def check_facts(name: str, dataset: GraphDataset) -> None:
    """Compare with what was counted in the raw files by hand."""
    assert (dataset.features, int(np.diff(dataset.graph_indptr).max())) == WIDTHS[name]
    edgeless = int((np.diff(dataset.edge_indptr) == 0).sum())
    isolated = dataset.nodes - np.unique(dataset.edges).size
    assert ISOLATED.get(name, isolated) == isolated
    assert EDGELESS.get(name, edgeless) == edgeless


def test_collab_is_the_mirrors_arrays(raw_folder):
    """COLLAB.npz was written from another copy's graphs: each undirected edge once, by place in its graph."""
    entry = entry_of("collab")
    raw = load_raw(entry.dataset.sources[0], raw_folder("collab"))
    with np.load(Path(os.environ["FEDBENCH_MIRROR"]) / "tu/COLLAB/COLLAB.npz") as arrays:
        sizes, y, parts, source, target = (arrays[name] for name in ("num_nodes", "y", "edge_ptr", "src", "dst"))
    base = np.repeat(np.cumsum(sizes, dtype=np.int64) - sizes, np.diff(parts))
    once = raw.edges[:, raw.edges[0] < raw.edges[1]]
    code = np.sort((source + base) * raw.nodes + target + base)
    assert np.array_equal(once[0] * raw.nodes + once[1], code)
    assert raw.edges.shape[1] == 2 * code.size == 2 * entry.dataset.counts.edges
    assert np.array_equal(np.diff(raw.graph_indptr), sizes)
    assert np.array_equal(raw.y + 1, y)
    assert np.bincount(raw.y).tolist() == [2600, 775, 1625]
    x = node_features(raw, entry.dataset.features)
    assert x.shape == (372474, 492)
    assert np.array_equal(x.indices, np.bincount(raw.edges[0], minlength=raw.nodes))
