"""`fedbench record`: a CSV of any program becomes a record that tables accept."""

import json
import math

import pytest

from fedbench.files import sha256_of
from fedbench.records.store import read_record
from tests.records.support import TABLE, flat, rows_of


@pytest.fixture
def program(world):
    """Write the program, its CSV and its settings; return the command."""
    (world.root / "centroid.R").write_text("# any language")
    write_csv(world, rows_of(flat(0.7)))
    (world.root / "told.json").write_text(json.dumps({"k": 3}))
    out = world.records / "toy/cora/metis-2/centroid/default/seeds-0-1.parquet"
    names = {"protocol": "toy", "dataset": "cora", "partition": "metis-2", "method": "centroid"}
    files = {
        "table": world.root / "out.csv",
        "program": world.root / "centroid.R",
        "dataset-file": world.results / "datasets/cora.npz",
        "partition-file": world.results / "partitions/cora/metis-2.npz",
        "settings": world.root / "told.json",
        "out": out,
    }
    return [word for name, value in {**names, **files}.items() for word in (f"--{name}", value)]


def write_csv(world, columns):
    lines = [",".join(columns)] + [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (world.root / "out.csv").write_text("\n".join(lines) + "\n")


def test_record_of_an_outside_program(world, program):
    assert world.run("record", *program, "--label", "Centroid (R)") == 0
    record = read_record(program[-1])
    assert record.header.clients == 2
    assert record.header.seeds == (0, 1)
    assert record.header.settings == {"program": [str(world.root / "centroid.R")], "values": {"k": 3}}
    assert record.header.digests.code == sha256_of(world.root / "centroid.R")
    assert record.header.digests.dataset == sha256_of(world.results / "datasets/cora.npz")
    assert record.table.num_rows == 16
    assert world.run("check", "--records", world.records, "--configs", world.configs) == 0


def test_it_joins_a_table_under_its_own_label(world, program):
    world.suite(toy={**TABLE, "rows": TABLE["rows"][:1]})
    world.fill()
    world.run("record", *program, "--label", "Centroid (R)")
    assert world.table("--also", "centroid") == 0
    assert "| Centroid (R) | **70.00" not in (world.root / "tables/toy.md").read_text()
    assert "| Centroid (R) | <u>70.00" in (world.root / "tables/toy.md").read_text()


def test_a_changed_program_makes_it_stale(world, program, capsys):
    world.run("record", *program)
    (world.root / "centroid.R").write_text("# other")
    assert world.run("check", "--records", world.records, "--configs", world.configs) == 1
    assert "other code than now" in capsys.readouterr().out


def test_empty_value_is_nan(world, program):
    columns = rows_of(flat(0.7))
    columns["value"][0] = ""
    write_csv(world, columns)
    assert world.run("record", *program) == 0
    assert math.isnan(read_record(program[-1]).table["value"][0].as_py())


def unknown_column(columns):
    columns["epoch"] = columns.pop("round")


def word_as_value(columns):
    columns["value"][3] = "high"


def repeated(columns):
    columns["round"] = [1] * len(columns["round"])


def too_many_clients(columns):
    columns["client"][0] = 5


def nothing(columns):
    for values in columns.values():
        values.clear()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (unknown_column, "epoch"),
        (word_as_value, "high"),
        (repeated, "repeated rows"),
        (too_many_clients, "clients [5] of 2"),
        (nothing, "0 rows"),
    ],
)
def test_bad_csv_is_refused(world, program, capsys, spoil, said):
    columns = rows_of(flat(0.7))
    spoil(columns)
    write_csv(world, columns)
    assert world.run("record", *program) == 1
    assert said in capsys.readouterr().err
    assert not program[-1].exists()


def test_percent_where_a_share_is_meant_is_refused(world, program, capsys):
    write_csv(world, rows_of(flat(85.0)))
    assert world.run("record", *program) == 1
    assert "accuracy of 85; shares are from 0 to 1" in capsys.readouterr().err
    assert not program[-1].exists()


def test_missing_files_are_refused(world, program, capsys):
    (world.root / "centroid.R").unlink()
    assert world.run("record", *program) == 1
    assert "centroid.R" in capsys.readouterr().err
    (world.root / "told.json").write_text("{")
    assert world.run("record", *program) == 1
    assert "told.json" in capsys.readouterr().err


def test_a_path_where_no_table_looks_is_refused(world, program, capsys):
    assert world.run("record", *program[:-1], world.root / "X.parquet") == 1
    assert "<results>/records/toy/cora/metis-2/centroid/default/seeds-0-1.parquet" in capsys.readouterr().err
