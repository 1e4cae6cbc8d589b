"""Valid, stale, invalid: every rule broken once, and `fedbench check`."""

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fedbench.files import sha256_of
from fedbench.records.check import Present, faults, name_of, program_digest, run_of
from fedbench.records.schema import Digests
from fedbench.records.store import Record, table_of
from fedbench.settings import digest_of
from tests.records.support import RUN, flat, header_of, record_of, rows_of

NAME = "toy/cora/metis-2/local/default/seeds-0-1"
GOOD = rows_of(flat(0.7))


def changed(**columns):
    return Record(header_of(RUN, (0, 1)), table_of({**GOOD, **columns}))


def with_first(name, value):
    return changed(**{name: [value, *GOOD[name][1:]]})


def without_first_value():
    record = changed()
    values = pa.array([None, *GOOD["value"][1:]], pa.float64())
    return Record(record.header, record.table.set_column(5, "value", values))


def test_a_good_record_has_no_faults():
    record = record_of(flat(math.nan))  # NaN is a client without nodes
    assert faults(record, NAME) == []
    assert name_of(record.header) == NAME
    assert run_of(record.header) == RUN


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (with_first("seed", 7), "seeds [0, 1, 7] in the table, [0, 1] in the header"),
        (with_first("client", 2), "clients [2] of 2"),
        (with_first("client", -2), "clients [-2] of 2"),
        (with_first("split", "tset"), "splits ['tset']"),
        (with_first("value", math.inf), "1 infinite values"),
        (without_first_value(), "1 empty fields"),
        (changed(round=[1] * len(GOOD["round"])), "8 repeated rows"),
        (record_of(flat(0.7), settings={"other": 1}), "the header's settings don't give"),
        (record_of(flat(0.7), variant="other"), "its header says toy/cora/metis-2/local/other/seeds-0-1"),
    ],
)
def test_each_fault_is_named(record, fault):
    found = faults(record, NAME)
    assert len(found) == 1
    assert fault in found[0]


def states(world, capsys, *more):
    status = world.run("check", "--records", world.records, "--configs", world.configs, "--all", *more)
    return status, capsys.readouterr().out.splitlines()


def test_present_records_are_valid(world, capsys):
    world.write(flat(0.7))
    assert states(world, capsys) == (0, [f"valid   {NAME}", f"1 valid, 0 stale, 0 invalid in {world.records}"])


def test_no_records_at_all_is_no_success(world, capsys):
    assert states(world, capsys)[0] == 1


def new_settings(world):
    world.configure("protocols", "toy", {"title": "T", "source": "-", "training": {"rounds": 9}})


def lost_settings(world):
    (world.configs / "protocols" / "toy.yaml").unlink()


def new_data(world):
    (world.results / "datasets" / "cora.npz").write_bytes(b"other")


def new_partition(world):
    (world.results / "partitions" / "cora" / "metis-2.npz").write_bytes(b"other")


@pytest.mark.parametrize(
    ("change", "part"),
    [(new_settings, "settings"), (lost_settings, "settings"), (new_data, "dataset"), (new_partition, "partition")],
)
def test_each_change_makes_stale(world, capsys, change, part):
    world.write(flat(0.7))
    change(world)
    assert states(world, capsys)[1][0] == f"stale   {NAME}: other {part} than now"
    assert states(world, capsys)[0] == 1


def test_other_code_makes_stale(world, capsys, monkeypatch):
    world.write(flat(0.7))
    monkeypatch.setattr("fedbench.provenance.code_digest", lambda method, task: "new")
    assert states(world, capsys)[1][0] == f"stale   {NAME}: other code than now"


def test_a_method_that_is_gone_is_stale(world, capsys):
    record = record_of(flat(0.7), run=RUN.model_copy(update={"method": "vanished"}))
    assert "code" in Present(world.configs, world.results).stale(record.header)


def test_data_that_is_not_here_is_not_compared(world, capsys):
    world.write(flat(0.7))
    (world.results / "datasets" / "cora.npz").unlink()
    assert states(world, capsys) == (
        0,
        [f"valid   {NAME}: dataset not here to compare", f"1 valid, 0 stale, 0 invalid in {world.records}"],
    )


def cut_table(path):
    path.write_bytes(path.read_bytes()[:300])


def lose_header(path):
    path.with_suffix(".json").unlink()


def lose_table(path):
    path.unlink()


def add_key(path):
    header = path.with_suffix(".json")
    header.write_text(json.dumps({**json.loads(header.read_text()), "sedes": [1]}))


def drop_column(path):
    pq.write_table(pq.read_table(path, partitioning=None).drop_columns(["client"]), path)


@pytest.mark.parametrize("damage", [cut_table, lose_header, lose_table, add_key, drop_column])
def test_damage_is_told_and_the_rest_still_checked(world, capsys, damage):
    path = world.write(flat(0.7))
    world.write(flat(0.7), RUN.model_copy(update={"method": "fedavg"}))
    damage(path)
    status, lines = states(world, capsys)
    assert status == 1
    assert [line.split()[0] for line in lines] == ["valid", "invalid", "1"]
    assert lines[1].startswith(f"invalid {NAME}: ")


def test_outside_program_is_compared_by_its_files(world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.R").write_text("1")
    (tmp_path / "b.R").write_text("2")
    assert program_digest(["a.R"]) == sha256_of(tmp_path / "a.R")
    assert program_digest(["a.R", "c.R"]) is None
    both = program_digest(["a.R", "b.R"])
    settings = {"program": ["a.R", "b.R"], "values": {}}
    digests = Digests(settings=digest_of(settings), dataset="d", partition="p", code=both)
    header = header_of(RUN.model_copy(update={"dataset": "x"}), (0,), settings=settings, digests=digests)
    assert Present(world.configs, world.results).stale(header) == []
    (tmp_path / "b.R").write_text("3")
    assert Present(world.configs, world.results).stale(header) == ["code"]
