"""The compact bundle: same rows back, small, whole or absent."""

import json
import math

import numpy as np
import pyarrow.compute as pc
import pytest

from fedbench.errors import RecordError
from fedbench.records.check import name_of
from fedbench.records.pack import Bundle, Entry, Folder, open_records, write_bundle
from fedbench.records.schema import COLUMNS
from fedbench.records.store import Record, table_of
from tests.records.support import RUN, costs, flat, full_disk, header_of, record_of

PAIRS = {("accuracy", "val"), ("accuracy", "test")}


def entry(record, digest="e" * 64):
    return Entry(name_of(record.header), digest, record)


def sorted_rows(table):
    return table.sort_by([(name, "ascending") for name in COLUMNS if name != "value"])


def test_rows_and_header_come_back(tmp_path):
    figures = {**flat(0.7), "train": {0: [[0.9, 0.8]] * 2, 1: [[math.nan, 0.8]] * 2}}
    first = record_of(
        figures,
        costs=costs((0, 1)),
        diagnostics={"0": {"mixing": {"1": [[1.0]]}, "preparation": {"epsilon": 2.0}}, "1": {"mixing": {}}},
    )
    second = record_of(flat(0.6), run=RUN.model_copy(update={"dataset": "pubmed"}))
    write_bundle([entry(second), entry(first)], PAIRS, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cora.parquet", "headers.jsonl", "pubmed.parquet"]
    bundle = open_records(tmp_path)
    assert isinstance(bundle, Bundle)
    assert bundle.names() == sorted([name_of(first.header), name_of(second.header)])
    back = bundle.get(name_of(first.header))
    assert back.digest == "e" * 64
    assert back.record.header == first.header.model_copy(
        update={"diagnostics": {"0": {"preparation": {"epsilon": 2.0}}}}
    )
    kept = first.table.filter(pc.field("split") != "train")
    assert sorted_rows(back.record.table).equals(sorted_rows(kept))
    assert bundle.get("toy/cora/metis-2/other/default/seeds-0-1") is None


def test_packing_twice_gives_the_same_bytes_in_any_order(tmp_path):
    records = [entry(record_of(flat(0.7), run=RUN.model_copy(update={"method": method}))) for method in "abc"]
    write_bundle(records, PAIRS, tmp_path / "a")
    write_bundle(records[::-1], PAIRS, tmp_path / "b")
    for name in ("cora.parquet", "headers.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_data_set_that_is_gone_leaves_no_file(tmp_path):
    write_bundle([entry(record_of(flat(0.7)))], PAIRS, tmp_path)
    write_bundle([entry(record_of(flat(0.7), run=RUN.model_copy(update={"dataset": "x"})))], PAIRS, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["headers.jsonl", "x.parquet"]


def test_a_million_rows_take_less_than_three_megabytes(tmp_path):
    """50 runs of 5 seeds, 20 clients, 100 rounds; accuracies are counts of ~50 nodes that rise and then jitter."""
    rng = np.random.default_rng(0)
    entries = [entry(_realistic(rng, f"m{number}")) for number in range(50)]
    write_bundle(entries, PAIRS, tmp_path)
    assert sum(item.record.table.num_rows for item in entries) == 1_000_000
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 3e6


def _realistic(rng, method):
    seeds, clients, rounds = 5, 20, 100
    nodes = rng.integers(40, 60, clients)
    level = 0.8 * (1 - np.exp(-np.arange(rounds) / 15)) + rng.normal(0, 0.02, (2, seeds, clients, rounds))
    counts = np.round(np.clip(level, 0, 1) * nodes[:, None])
    grid = np.indices(counts.shape).reshape(4, -1)
    columns = {"seed": grid[1], "client": grid[2], "round": grid[3] + 1, "metric": np.repeat("accuracy", grid.shape[1])}
    columns |= {"split": np.array(["val", "test"])[grid[0]], "value": (counts / nodes[:, None]).ravel()}
    run = RUN.model_copy(update={"method": method})
    return Record(header_of(run, range(seeds), clients=clients), table_of(columns))


def test_folder_reads_what_lies_there(world):
    world.write(flat(0.7))
    folder = open_records(world.records)
    assert isinstance(folder, Folder)
    name = "toy/cora/metis-2/local/default/seeds-0-1"
    assert folder.names() == [name]
    found = folder.get(name)
    assert found.reference == f"{name}.json@{found.digest[:12]}"
    assert folder.get(name + "0") is None


@pytest.mark.parametrize("name", ["cora.parquet", "headers.jsonl"])
def test_damaged_bundle_is_an_error(tmp_path, name):
    record = entry(record_of(flat(0.7)))
    write_bundle([record], PAIRS, tmp_path)
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(RecordError, match="read the bundle"):
        open_records(tmp_path).get(record.name)


def test_pack_command_refuses_missing_records(world, capsys):
    world.write(flat(0.7))
    words = ["pack", "--suite", "s", "--configs", world.configs, "--records", world.records]
    assert world.run(*words, "--out", world.root / "b") == 1
    assert "3 records are missing" in capsys.readouterr().err
    assert not (world.root / "b").exists()
    assert world.run(*words, "--out", world.root / "b", "--partial") == 0
    assert "1 records, 0.00 MB" in capsys.readouterr().out


def test_check_reads_bundles_too(world, capsys):
    world.fill()
    bundle = world.root / "b"
    world.run("pack", "--suite", "s", "--configs", world.configs, "--records", world.records, "--out", bundle)
    assert world.run("check", "--records", bundle, "--configs", world.configs, "--results", world.results) == 0
    lines = (bundle / "headers.jsonl").read_text().splitlines()
    altered = json.loads(lines[0])
    altered["header"]["settings"]["training"]["rounds"] = 1
    (bundle / "headers.jsonl").write_text("\n".join([json.dumps(altered), *lines[1:]]))
    assert world.run("check", "--records", bundle, "--configs", world.configs, "--results", world.results) == 1


def test_full_disk_leaves_the_old_bundle_whole(tmp_path):
    write_bundle([entry(record_of(flat(0.7)))], PAIRS, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with full_disk(), pytest.raises(OSError, match="File too large"):
        write_bundle([entry(record_of(flat(0.2)))], PAIRS, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_add_keeps_what_the_folder_of_records_has_not(world, capsys):
    world.suite()
    world.fill()
    where = ["--suite", "s", "--configs", world.configs, "--records", world.records, "--out", world.root / "b"]
    assert world.run("pack", *where) == 0
    before = Bundle(world.root / "b").get(f"{RUN.folder}/seeds-0-1")
    for suffix in ("parquet", "json"):
        (world.records / f"{RUN.folder}/seeds-0-1.{suffix}").unlink()
    assert world.run("pack", *where) == 1
    assert world.run("pack", *where, "--add") == 0
    after = Bundle(world.root / "b").get(f"{RUN.folder}/seeds-0-1")
    assert after.digest == before.digest
    assert after.record.table.equals(before.record.table)
