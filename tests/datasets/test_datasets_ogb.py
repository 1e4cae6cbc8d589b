"""ogbn-arxiv: the loader on a small graph in its raw layout, in which OGB's own class reads it too."""

import gzip
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from datasets_support import entry_of

from fedbench.datasets import ogb_files
from fedbench.datasets.build import build_dataset
from fedbench.datasets.node import NodeDataset
from fedbench.datasets.origin import origin_path, read_origin
from fedbench.errors import DataError, SourceError
from fedbench.files import sha256_of
from fedbench.sources.formats import OgbFile
from fedbench.sources.kinds import RawFile
from fedbench.sources.node_entry import PreparedCounts, RawCounts
from fedbench.sources.note import write_note

LOADER = OgbFile(format="ogb", file="arxiv.zip", folder="arxiv")
# Papers 0 to 3 cite each other (0 and 1 in both directions); 4 and 5 are apart; 6 cites nothing.
FILES = {
    "edge": "0,1\n1,0\n2,1\n3,2\n4,5\n",
    "num-edge-list": "5\n",
    "num-node-list": "7\n",
    "node-feat": "-0.057943,0.5\n0.0,-1.25\n0.1,0.2\n3.0,-0.0\n1.0,1.0\n2.0,2.0\n-7.5,0.25\n",
    "node-label": "4\n0\n4\n2\n1\n3\n0\n",
    "node_year": "2013\n2015\n2014\n2014\n2014\n2017\n2019\n",
}
X = np.float32([[-0.057943, 0.5], [0, -1.25], [0.1, 0.2], [3, 0], [1, 1], [2, 2], [-7.5, 0.25]])
EDGES = [[0, 1, 1, 2, 2, 3, 4, 5], [1, 0, 2, 1, 3, 2, 5, 4]]


def write_zip(folder: Path, **changed: str | None) -> Path:
    path = folder / "arxiv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("arxiv/RELEASE_v1.txt", "")
        for name, text in (FILES | changed).items():
            if text is not None:
                archive.writestr(f"arxiv/raw/{name}.csv.gz", gzip.compress(text.encode()))
    return path


def test_the_raw_layout_by_hand(tmp_path, capfd):
    write_zip(tmp_path)
    raw = ogb_files.load(tmp_path, LOADER)
    assert raw.y.tolist() == [4, 0, 4, 2, 1, 3, 0]
    assert np.array_equal(raw.x.toarray(), X)
    assert raw.x.dtype == np.float32
    assert raw.edges.tolist() == EDGES
    assert capfd.readouterr() == ("", "")


def test_pygs_undirected_graph_is_the_same(tmp_path):
    torch = pytest.importorskip("torch")
    from torch_geometric.utils import to_undirected

    write_zip(tmp_path)
    directed = np.loadtxt(FILES["edge"].splitlines(), delimiter=",", dtype=np.int64).T
    theirs = to_undirected(torch.from_numpy(directed))
    assert np.array_equal(ogb_files.load(tmp_path, LOADER).edges, theirs.numpy())


def small_entry(path: Path):
    """Return arxiv's entry with the sum and the counts of the small graph; everything else stays."""
    entry = entry_of("arxiv")
    file = RawFile(name=path.name, bytes=path.stat().st_size, sha256=sha256_of(path))
    sources = tuple(source.model_copy(update={"files": (file,)}) for source in entry.dataset.sources)
    raw, part = RawCounts(nodes=7, edges=4, features=2, classes=5), PreparedCounts(nodes=4, edges=3)
    changed = {"sources": sources, "raw": raw, "component": part}
    return entry.model_copy(update={"dataset": entry.dataset.model_copy(update=changed)})


def test_the_largest_component_with_features_as_they_are(tmp_path):
    entry = small_entry(write_zip(tmp_path))
    write_note(tmp_path, entry.dataset.sources[1])
    build_dataset(entry, tmp_path, tmp_path / "out/arxiv.npz")
    dataset = NodeDataset.read(tmp_path / "out/arxiv.npz")
    place = read_origin(origin_path(tmp_path / "out/arxiv.npz")).raw_position
    assert sorted(place.tolist()) == [0, 1, 2, 3]
    dense = np.zeros(dataset.x_shape, np.float32)
    dense[np.repeat(np.arange(4), np.diff(dataset.x_indptr)), dataset.x_indices] = dataset.x_data
    assert np.array_equal(dense, X[place])
    assert sorted(map(tuple, place[dataset.edges].T.tolist())) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    assert np.array_equal(dataset.y, np.array([4, 0, 4, 2])[place])


def test_a_file_of_another_sum_is_never_opened(tmp_path, monkeypatch):
    entry = entry_of("arxiv")
    write_zip(tmp_path)
    write_note(tmp_path, entry.dataset.sources[0])
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("opened an unchecked file"))
    with pytest.raises(SourceError, match="expected 83,058,288"):
        build_dataset(entry, tmp_path, tmp_path / "d.npz")


@pytest.mark.parametrize("part", ["edge", "node-label"])
def test_a_missing_file_is_an_error(part, tmp_path):
    write_zip(tmp_path, **{part: None})
    with pytest.raises(DataError, match=f"arxiv/raw/{part}.csv.gz"):
        ogb_files.load(tmp_path, LOADER)


def test_more_graphs_than_one_are_an_error(tmp_path):
    write_zip(tmp_path, **{"num-node-list": "4\n3\n", "num-edge-list": "4\n1\n"})
    with pytest.raises(DataError, match="found: 2"):
        ogb_files.load(tmp_path, LOADER)


def loaded_after(program: str, *names: str) -> list[str]:
    """Return which of the modules ``names`` a fresh interpreter has loaded after running ``program``."""
    program += f"\nimport sys; print(*sorted({set(names)} & set(sys.modules)))"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()


def test_ogb_is_imported_only_to_load():
    heavy = ("ogb", "pandas", "torch", "torch_geometric")
    assert loaded_after("import fedbench.datasets.build, fedbench.cli.dataset", *heavy) == []


def test_loading_asks_nobody_for_a_newer_ogb(tmp_path):
    pytest.importorskip("outdated")
    write_zip(tmp_path)
    program = "import pathlib, fedbench.datasets.ogb_files as files, fedbench.sources.formats as formats\n"
    program += "loader = formats.OgbFile(format='ogb', file='arxiv.zip', folder='arxiv')\n"
    program += f"files.load(pathlib.Path({str(tmp_path)!r}), loader)"
    assert loaded_after(program, "ogb", "outdated") == ["ogb"]
