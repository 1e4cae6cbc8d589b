"""From a catalogue entry to a data set file, on a small set."""

import hashlib

import numpy as np
import pytest
import yaml

from fedbench.cli import dataset as dataset_command
from fedbench.cli import fetch as fetch_command
from fedbench.cli.__main__ import build_parser
from fedbench.datasets.build import build_dataset
from fedbench.datasets.origin import origin_path
from fedbench.datasets.rec.origin import read_rec_origin
from fedbench.datasets.rec.store import RecDataset
from fedbench.errors import ConfigurationError, DataError, SourceError
from fedbench.files import sha256_of, write_arrays
from fedbench.sources.catalogue import load_entry
from fedbench.sources.fetch import fetch

FILES = {"train.txt": "3 7 5\n8 5 6 7\n", "test.txt": "3 6\n8 9\n"}
COUNTS = {"users": 2, "items": 4, "train": 5, "val": 0, "test": 2}


def described(text: str, name: str) -> dict:
    return {"name": name, "bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def entry_values(**changes) -> dict:
    loader = {"format": "ngcf", "train": "train.txt", "test": "test.txt"}
    files = [described(text, name) for name, text in FILES.items()]
    return {
        "title": "Toy",
        "task": "rec",
        "citation": "none",
        "licence": "none",
        "raw": {"users": 2, "items": 4, "train": 5, "test": 2},
        "split": {"name": "lightgcn_official"},
        "counts": {"users": 2, "items": 4, "train": 5, "val": 0, "test": 2},
        "sources": [{"name": "mirror", "kind": "mirror", "at": "toy", "loader": loader, "files": files}],
        **changes,
    }


@pytest.fixture
def catalogue(tmp_path, monkeypatch):
    """Return a function that writes the entry `toy` (and others) and loads one; the mirror holds its files."""
    monkeypatch.setenv("FEDBENCH_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "mirror/toy").mkdir(parents=True)
    for name, text in FILES.items():
        (tmp_path / "mirror/toy" / name).write_bytes(text.encode())

    def load(name: str = "toy", others=None, **changes):
        folder = tmp_path / "configs/datasets"
        folder.mkdir(parents=True, exist_ok=True)
        for file, values in {"toy": entry_values(**changes), **(others or {})}.items():
            (folder / f"{file}.yaml").write_text(yaml.safe_dump(values))
        return load_entry(name, tmp_path / "configs")

    return load


def test_from_entry_to_file(catalogue, tmp_path):
    entry = catalogue()
    fetch(entry.title, entry.dataset.sources, tmp_path / "raw")
    build_dataset(entry, tmp_path / "raw", tmp_path / "toy.npz")
    data, origin = RecDataset.read(tmp_path / "toy.npz"), read_rec_origin(origin_path(tmp_path / "toy.npz"))
    assert (data.users.dtype, data.items.dtype, data.split.dtype) == (np.int64, np.int64, np.int8)
    assert data.users.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert data.items.tolist() == [0, 1, 2, 0, 1, 2, 3]
    assert data.split.tolist() == [0, 2, 0, 0, 0, 0, 2]
    assert (origin.user_id.tolist(), origin.item_id.tolist()) == ([3, 8], [5, 6, 7, 9])
    assert origin.meta["source"] == "mirror"
    assert data.digest == sha256_of(tmp_path / "toy.npz")


def test_the_same_raw_files_give_the_same_bytes(catalogue, tmp_path):
    entry = catalogue()
    fetch(entry.title, entry.dataset.sources, tmp_path / "raw")
    for out in ("one", "two"):
        build_dataset(entry, tmp_path / "raw", tmp_path / f"{out}.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_another_split_of_the_same_raw_files(catalogue, tmp_path):
    other = {
        "title": "Toy, 9:1",
        "split_of": "toy",
        "split": {"name": "lpsfed_9_1", "pool": "train_only"},
        "counts": {"users": 2, "items": 3, "train": 2, "val": 1, "test": 2},
    }
    entry = catalogue("toy-lpsfed", others={"toy-lpsfed": other})
    fetch(entry.title, entry.dataset.sources, tmp_path / "raw")
    data = build_dataset(entry, tmp_path / "raw", tmp_path / "toy-lpsfed.npz")
    assert (data.name, data.meta["pairs"]) == ("toy-lpsfed", {"train": 2, "val": 1, "test": 2})
    assert (entry.title, entry.dataset.title) == ("Toy, 9:1", "Toy")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"raw": {"users": 3, "items": 4, "train": 5, "test": 2}}, "2 users"),
        ({"counts": {"users": 2, "items": 4, "train": 4, "val": 1, "test": 2}}, "5 train, 0 val"),
        ({"counts": {"users": 2, "items": 4, "test": 3}}, "found: 2 test"),
    ],
)
def test_other_counts_than_the_catalogues_are_refused(catalogue, tmp_path, change, message):
    entry = catalogue(**change)
    fetch(entry.title, entry.dataset.sources, tmp_path / "raw")
    with pytest.raises(DataError, match=message):
        build_dataset(entry, tmp_path / "raw", tmp_path / "toy.npz")
    assert not (tmp_path / "toy.npz").exists()


def test_counts_that_are_not_known_are_not_checked(catalogue, tmp_path):
    entry = catalogue(counts={"users": 2, "items": 4, "test": 2})
    fetch(entry.title, entry.dataset.sources, tmp_path / "raw")
    assert build_dataset(entry, tmp_path / "raw", tmp_path / "toy.npz").meta["pairs"]["train"] == 5


def test_a_changed_raw_file_is_refused(catalogue, tmp_path):
    entry = catalogue()
    fetch(entry.title, entry.dataset.sources, tmp_path / "raw")
    (tmp_path / "raw/test.txt").write_text("3 6\n8 1\n")
    with pytest.raises(SourceError, match=r"test\.txt"):
        build_dataset(entry, tmp_path / "raw", tmp_path / "toy.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": {"name": "lpsfed"}}, "lightgcn_official"),
        ({"split": {"name": "lpsfed_9_1", "poll": "train_only"}}, "unknown key"),
        ({"order": "random"}, "official"),
    ],
)
def test_a_wrong_entry_is_refused(catalogue, change, message):
    with pytest.raises(ConfigurationError, match=message):
        catalogue(**change)


def test_a_split_of_no_set_of_pairs_is_refused(catalogue):
    other = {"title": "T", "split_of": "again", "split": {"name": "lightgcn_official"}, "counts": COUNTS}
    again = {"title": "T", "task": "graph", "source": "s", "members": ["toy", "toy-2"]}
    with pytest.raises(ConfigurationError, match="a group of 'toy', whose task is rec"):
        catalogue("other", others={"other": other, "again": again})


def test_another_split_may_be_split_again_from_the_same_pairs(catalogue):
    first = {"title": "A", "split_of": "toy", "split": {"name": "lpsfed_9_1"}, "counts": COUNTS}
    entry = catalogue("b", others={"a": first, "b": first | {"title": "B", "split_of": "a"}})
    assert (entry.title, entry.dataset.title, entry.resplit.split_of) == ("B", "Toy", "a")


def test_the_commands(catalogue, tmp_path, capsys):
    catalogue()
    where, parser = ["--configs", str(tmp_path / "configs")], build_parser(None)
    fetch_command.run(parser.parse_args(["fetch", "toy", "--out", str(tmp_path / "raw"), *where]))
    files = ["--raw", str(tmp_path / "raw"), "--out", str(tmp_path / "toy.npz")]
    dataset_command.run(parser.parse_args(["dataset", "toy", *files, *where]))
    said = capsys.readouterr().out
    assert f"Toy: 2 files from mirror in {tmp_path}/raw" in said
    assert "toy: 2 users, 4 items, 7 pairs (5 train, 0 val, 2 test) in" in said


def test_a_source_without_a_loader_of_pairs_is_refused(catalogue, tmp_path):
    values = entry_values()["sources"][0]
    entry = catalogue(sources=[values | {"loader": {"format": "film"}}])
    fetch(entry.title, entry.dataset.sources, tmp_path / "raw")
    with pytest.raises(SourceError, match="the format 'film'"):
        build_dataset(entry, tmp_path / "raw", tmp_path / "toy.npz")


def test_a_file_of_another_task_is_refused(tmp_path):
    write_arrays(tmp_path / "x.npz", {"users": np.zeros(1)}, {"task": "node"})
    with pytest.raises(DataError, match="task rec"):
        RecDataset.read(tmp_path / "x.npz")
