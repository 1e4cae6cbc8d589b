"""Import of a published partition: FedAux's own Cora-10, and tables that don't fit."""

import csv
import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from fedbench.datasets.node import NodeDataset
from fedbench.datasets.origin import Origin, origin_path, read_origin, write_origin
from fedbench.errors import DataError, SourceError
from fedbench.partition.build import build_partition
from fedbench.partition.kinds import FileScheme
from fedbench.partition.name import parse_name
from fedbench.partition.scheme import load_scheme
from fedbench.partition.store import Partition

CONFIGS = Path(__file__).parents[2] / "configs"
SIZES = [244, 247, 241, 244, 254, 253, 253, 253, 248, 248]
TRAIN = [48, 41, 51, 55, 48, 46, 61, 44, 48, 55]


def test_the_authors_partition(cora_file, tmp_path):
    out = tmp_path / "p.npz"
    build_partition("cora", parse_name("fedaux-authors-10"), load_scheme("fedaux-authors", CONFIGS), cora_file, out)
    partition, dataset = Partition.read(out), NodeDataset.read(cora_file)
    assert np.bincount(partition.client).tolist() == SIZES
    assert [partition.nodes_of(client, 0).size for client in range(10)] == TRAIN
    client = np.empty(2485, dtype=int)
    client[partition.node] = partition.client
    assert (client[dataset.edges[0]] == client[dataset.edges[1]]).sum() == 8908
    assert (partition.meta["kept_edges"], partition.meta["cut_edges"]) == (4454, 615)
    names = np.array(["train", "val", "test"])
    place = read_origin(origin_path(cora_file)).raw_position[partition.node]
    found = {(int(p), int(c), str(names[s])) for p, c, s in zip(place, partition.client, partition.split, strict=True)}
    with (Path(os.environ["FEDBENCH_MIRROR"]) / "partitions/cora-metis10-fedaux.csv").open() as stream:
        assert found == {(int(r["node"]), int(r["client"]), r["split"]) for r in csv.DictReader(stream)}


@pytest.fixture
def scheme(tmp_path, monkeypatch):
    """Return a function: rows -> a scheme whose table (two clients of the 8 x 8 grid) has those rows."""
    monkeypatch.setenv("FEDBENCH_MIRROR", str(tmp_path))

    def make(rows: list[str], kept: int = 104, sizes=(32, 32)) -> FileScheme:
        data = "\n".join(["node,client,split", *rows, ""]).encode()
        (tmp_path / "t.csv").write_bytes(data)
        file = {"name": "t.csv", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        values = {"scheme": "file", "title": "halves", "source": "", "dataset": "grid", "raw_format": "planetoid"}
        values["expected"] = {"sizes": sizes, "kept_edges": kept}
        values["sources"] = [{"name": "mirror", "kind": "mirror", "at": ".", "files": [file]}]
        return FileScheme.model_validate(values)

    return make


HALVES = [f"{node},{node // 32},{('train', 'val', 'test')[node % 3]}" for node in range(64)]


def build(scheme, grid_file, name="halves-2"):
    return build_partition("grid", parse_name(name), scheme, grid_file, grid_file.parent / "p.npz")


def test_ids_of_the_table_are_places_in_the_raw_files(scheme, grid_file):
    partition = build(scheme(HALVES), grid_file)  # the grid's raw order is reversed
    assert partition.nodes_of(0).tolist() == list(range(32, 64))
    assert partition.nodes_of(1, 0).tolist() == [63 - node for node in range(63, 31, -1) if node % 3 == 0]


def test_a_node_order_that_the_table_does_not_use_is_refused(scheme, grid_file):
    origin = read_origin(origin_path(grid_file))
    meta = {"dataset": "grid", "source": "pgl", "format": "linqs"}
    write_origin(origin_path(grid_file), Origin(origin.raw_position, meta))
    with pytest.raises(DataError, match="source 'pgl', whose node order is linqs's") as caught:
        build(scheme(HALVES), grid_file)
    assert "planetoid" in caught.value.allowed
    assert "FEDBENCH_MIRROR" in caught.value.remedy
    assert not (grid_file.parent / "p.npz").exists()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (HALVES[:-1], "63 rows that are not the data set's 64 nodes"),
        ([*HALVES, "64,0,val"], "65 rows that are not"),
        ([*HALVES[:-1], "0,1,val"], "64 rows that are not"),
        ([*HALVES[:-1], "63,9,val"], "out of range"),
        ([*HALVES[:-1], "63,0,val"], "client sizes"),
        ([*HALVES[:-1], "63,0,valid"], "a row that can't be read"),
        ([*HALVES[:-1], "-1,0,val"], "64 rows that are not"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(scheme, grid_file, rows, message):
    with pytest.raises(DataError, match=message):
        build(scheme(rows), grid_file)


def test_other_kept_edges_than_published_are_refused(scheme, grid_file):
    with pytest.raises(DataError, match="104 edges kept"):
        build(scheme(HALVES, kept=99), grid_file)


@pytest.mark.parametrize("name", ["halves-3", "halves-2-s1"])
def test_another_number_of_clients_or_seed_is_refused(scheme, grid_file, name):
    with pytest.raises(DataError, match="grid, halves-2"):
        build(scheme(HALVES), grid_file, name)


def test_a_changed_table_is_refused(scheme, grid_file, tmp_path):
    asked = scheme(HALVES)
    (tmp_path / "t.csv").write_bytes((tmp_path / "t.csv").read_bytes()[:-1] + b"!")
    with pytest.raises(SourceError, match="sha256"):
        build(asked, grid_file)
