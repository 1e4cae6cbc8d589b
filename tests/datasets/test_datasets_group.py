"""Several data sets of graphs as one: what each member was comes out again, and the published splits of the groups."""

import os
from pathlib import Path

import numpy as np
import pytest

from fedbench.cli import dataset as dataset_command
from fedbench.cli import fetch as fetch_command
from fedbench.cli.__main__ import build_parser
from fedbench.datasets.build import build_dataset
from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.graph_group import member, member_of_each, members_of
from fedbench.datasets.origin import origin_path, read_origin
from fedbench.errors import ConfigurationError, SourceError
from fedbench.partition.build import build_partition
from fedbench.partition.describe import describe
from fedbench.partition.graphs.measures import measure_graphs
from fedbench.partition.name import PartitionName
from fedbench.partition.scheme import load_scheme
from fedbench.sources.catalogue import GroupEntry, load_entry
from fedbench.sources.fetch_entry import fetch_entry
from fedbench.sources.note import read_note

CONFIGS = Path(__file__).parents[2] / "configs"
# A constant answer's accuracy and its standard deviation over clients, computed apart
FLOORS = {
    "sm": (7, 66.78, 11.18),
    "sm-bio": (10, 63.29, 11.00),
    "sm-cv": (10, 48.75, 29.09),
    "bio-sm-sn": (12, 59.68, 13.31),
    "sm-sn-cv": (12, 47.57, 26.91),
}
SPLITS = {  # train, val, test, majority in test, per cent: the same section
    "mutag": (150, 19, 19, 63.16),
    "bzr": (324, 40, 41, 78.05),
    "cox2": (373, 47, 47, 78.72),
    "dhfr": (604, 76, 76, 60.53),
    "ptc-mr": (275, 34, 35, 57.14),
    "aids": (1600, 200, 200, 80.00),
    "nci1": (3288, 411, 411, 49.88),
    "peking-1": (68, 8, 9, 55.56),
    "ohsu": (63, 8, 8, 50.00),
    "proteins": (890, 111, 112, 59.82),
    "imdb-binary": (800, 100, 100, 50.00),
    "imdb-multi": (1200, 150, 150, 33.33),
    "letter-high": (1800, 225, 225, 6.67),
    "letter-med": (1800, 225, 225, 6.67),
    "letter-low": (1800, 225, 225, 6.67),
}


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    """Return a function name -> data set file, each member fetched once."""
    if not os.environ.get("FEDBENCH_MIRROR"):
        pytest.skip("FEDBENCH_MIRROR is not set: groups of data sets left out")
    raw, out = tmp_path_factory.mktemp("raw"), tmp_path_factory.mktemp("built")

    def build(name: str) -> Path:
        path = out / f"{name}.npz"
        if not path.exists():
            entry = load_entry(name, CONFIGS)
            fetch_entry(entry, raw if isinstance(entry, GroupEntry) else raw / name)
            build_dataset(entry, raw if isinstance(entry, GroupEntry) else raw / name, path)
        return path

    return build


def test_each_member_comes_out_as_it_was_alone(group):
    whole = GraphDataset.read(group("sm"))
    for number, name in enumerate(["mutag", "bzr", "cox2"]):
        alone, found = GraphDataset.read(group(name)), member(whole, number)
        assert found.meta == alone.meta
        for array in GraphDataset.arrays():
            assert np.array_equal(getattr(found, array), getattr(alone, array)), array


def test_a_group_says_what_is_in_it(group):
    whole, origin = GraphDataset.read(group("sm")), read_origin(origin_path(group("sm")))
    assert [each["features"] for each in members_of(whole)] == [7, 53, 35, 53, 18, 38, 37]
    assert np.bincount(member_of_each(whole)).tolist() == [188, 405, 467, 756, 344, 2000, 4110]
    assert (whole.features, whole.classes, whole.graphs) == (53, 2, 8270)
    assert whole.edges.max() == whole.nodes - 1
    assert [each["dataset"] for each in origin.meta["members"]] == [each["dataset"] for each in members_of(whole)]
    assert {each["source"] for each in origin.meta["members"]} == {"mirror"}


@pytest.mark.parametrize("name", FLOORS)
def test_the_published_splits(group, name, tmp_path):
    clients, mean, std = FLOORS[name]
    data = group(name)
    cut = PartitionName("graphs", clients)
    partition = build_partition(name, cut, load_scheme("graphs", CONFIGS), data, tmp_path / "p.npz")
    found = measure_graphs(partition, GraphDataset.read(data))
    floor = 100 * found.majority_test
    rows = zip(partition.meta["member"], found.train, found.val, found.test, floor.round(2).tolist(), strict=True)
    assert {of: (int(a), int(b), int(c), d) for of, a, b, c, d in rows} == {
        of: SPLITS[of] for of in partition.meta["member"]
    }
    assert (floor.mean(), floor.std()) == pytest.approx((mean, std), abs=0.006)
    assert f"{mean:.2f} points on average, {std:.2f}" in describe(tmp_path / "p.npz", data).markdown


def write(folder: Path, **files: str) -> Path:
    (folder / "datasets").mkdir()
    for name in ("mutag", "bzr", "cora"):
        (folder / f"datasets/{name}.yaml").write_text((CONFIGS / f"datasets/{name}.yaml").read_text())
    for name, text in files.items():
        (folder / f"datasets/{name}.yaml").write_text(f"title: T\ntask: graph\nsource: s\nmembers: {text}\n")
    return folder


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ("[mutag, cora]", "a group of 'cora', whose task is node"),
        ("[mutag, two]", "a group of 'two', which is a group"),
        ("[mutag, mutag]", "a data set is named twice"),
        ("[mutag]", "members"),
        ("[mutag, bzrr]", "did you mean 'bzr'"),
    ],
)
def test_a_wrong_group_is_refused(tmp_path, members, message):
    configs = write(tmp_path, group=members, two="[mutag, bzr]")
    with pytest.raises(ConfigurationError, match=message):
        load_entry("group", configs)


def test_a_members_changed_raw_file_is_refused(tmp_path):
    if not os.environ.get("FEDBENCH_MIRROR"):
        pytest.skip("FEDBENCH_MIRROR is not set: a changed raw file left out")
    entry = load_entry("two", write(tmp_path, two="[mutag, bzr]"))
    fetch_entry(entry, tmp_path / "raw")
    (tmp_path / "raw/bzr/BZR_A.txt").write_text("1, 2\n")
    with pytest.raises(SourceError, match=r"BZR_A\.txt"):
        build_dataset(entry, tmp_path / "raw", tmp_path / "two.npz")


def test_the_commands(tmp_path, capsys):
    if not os.environ.get("FEDBENCH_MIRROR"):
        pytest.skip("FEDBENCH_MIRROR is not set: the commands on a group left out")
    where, parser = ["--configs", str(write(tmp_path, two="[mutag, bzr]"))], build_parser(None)
    fetch_command.run(parser.parse_args(["fetch", "two", "--out", str(tmp_path / "raw"), *where]))
    files = ["--raw", str(tmp_path / "raw"), "--out", str(tmp_path / "two.npz")]
    dataset_command.run(parser.parse_args(["dataset", "two", *files, *where]))
    said = capsys.readouterr().out
    assert "BZR: 4 files from mirror" in said
    assert "two: 2 data sets, 593 graphs, 17,850 nodes, 19,256 edges in" in said
    assert read_note(tmp_path / "raw") == {"members": {"mutag": "mirror", "bzr": "mirror"}}
