"""`fedbench table` from configuration and records to files, against a CSV worked out by hand."""

import csv
import io
import math

import pytest

from fedbench.records.digest import record_digest
from fedbench.records.store import read_record
from tests.records.support import RUN, TABLE, costs, flat, full_disk

OTHER = {"method": "fedavg"}


def rows(world, name="toy", out="tables"):
    text = (world.root / out / f"{name}.csv").read_text()
    return {(row["method"], row["metric"]): row for row in csv.DictReader(io.StringIO(text))}


def test_csv_by_hand(world):
    world.fill()
    assert world.table() == 0
    lines = (world.root / "tables" / "toy.csv").read_text().splitlines()
    assert lines[0] == (
        "dataset,partition,clients,method,metric,mean,std,n_seeds,published_mean,published_std,difference,verdict,"
        "records,variant,stale"
    )
    record = read_record(world.records / "toy/cora/metis-2/local/default/seeds-0-1.parquet")
    reference = f"toy/cora/metis-2/local/default/seeds-0-1.json@{record_digest(record)[:12]}"
    assert lines[1] == (
        f"cora,metis-2,2,local,accuracy,70.2000,0.0000,2,70.0000,0.5000,0.2000,reproduced,{reference},default,"
    )
    verdicts = {row["method"]: row["verdict"] for row in rows(world).values()}
    assert verdicts == {
        "local": "reproduced",
        "fedavg": "off by +3.00",
        "fedper": "off by -2.00",
        "majority": "not published",
    }
    majority = rows(world)["majority", "accuracy"]
    assert (majority["published_mean"], majority["difference"]) == ("", "")


def test_published_std_that_is_not_given_stays_empty(world):
    world.fill()
    world.table()
    assert rows(world)["fedavg", "accuracy"]["published_std"] == ""


def test_spread_over_seeds_gives_within_spread(world):
    world.fill()
    test = {0: [[0.1, 0.1], [0.6, 0.6]], 1: [[0.1, 0.1], [0.7, 0.7]]}  # mean 65, std 5; published 60
    world.write({"val": flat(0.5)["val"], "test": test}, RUN.model_copy(update=OTHER), costs=costs((0, 1)))
    world.table()
    row = rows(world)["fedavg", "accuracy"]
    assert (row["mean"], row["std"], row["verdict"]) == ("65.0000", "5.0000", "within spread")


def test_same_command_twice_gives_the_same_bytes(world):
    world.fill()
    world.table(out="once")
    world.table(out="again")
    for suffix in ("csv", "tex", "md"):
        once, again = ((world.root / out / f"toy.{suffix}").read_bytes() for out in ("once", "again"))
        assert once == again


def test_blocks_of_seeds_give_the_same_figures(world):
    world.suite(seeds=4, per_job=4)
    world.fill(seeds=(0, 1, 2, 3), per_job=4)
    world.table(out="whole")
    world.suite(seeds=4, per_job=2)
    world.fill(seeds=(0, 1, 2, 3), per_job=2)
    world.table(out="blocks")
    whole, blocks = rows(world, out="whole"), rows(world, out="blocks")
    for key, row in whole.items():
        assert row.pop("records").count(";") == 0
        assert blocks[key].pop("records").count(";") == 1
        assert row == blocks[key]


def test_bundle_gives_the_same_bytes_as_the_records(world):
    tables = {name: {**TABLE, "kind": name} for name in ("accuracy", "communication", "seconds")}
    world.suite(**tables)
    world.fill()
    bundle = world.root / "bundle"
    where = ["--configs", world.configs, "--records", world.records, "--out", bundle]
    assert world.run("pack", "--suite", "s", *where) == 0
    for name in tables:
        assert world.table(name=name, out="records") == 0
        assert world.table(name=name, out="bundle-tables", records=bundle) == 0
        for suffix in ("csv", "tex", "md"):
            ours, theirs = (world.root / out / f"{name}.{suffix}" for out in ("records", "bundle-tables"))
            assert ours.read_bytes() == theirs.read_bytes()


def test_cost_tables_by_hand(world):
    world.suite(bytes={**TABLE, "kind": "communication", "published": None}, time={**TABLE, "kind": "seconds"})
    world.fill()
    world.table(name="bytes")
    world.table(name="time")
    assert rows(world, "bytes")["local", "bytes_up_per_round"]["mean"] == "500.0000"
    assert rows(world, "bytes")["local", "bytes_total"]["mean"] == "1600.0000"
    row = rows(world, "time")["local", "training_seconds"]
    assert (row["mean"], row["std"], row["verdict"]) == ("1.5000", "0.5000", "not published")


def test_missing_records_are_listed_with_the_command(world, capsys):
    world.fill()
    (world.records / "toy/cora/metis-2/fedavg/default/seeds-0-1.parquet").unlink()
    (world.records / "toy/cora/metis-2/fedavg/default/seeds-0-1.json").unlink()
    assert world.table() == 1
    message = capsys.readouterr().err
    assert "1 records are missing" in message
    assert "toy/cora/metis-2/fedavg/default/seeds-0-1" in message
    assert "snakemake" in message
    assert "--partial" in message
    assert not (world.root / "tables").exists()


def test_partial_prints_missing_cells_as_not_run(world):
    world.write(flat(0.702), costs=costs((0, 1)))
    assert world.table("--partial") == 0
    found = rows(world)["fedavg", "accuracy"]
    assert (found["verdict"], found["mean"], found["records"], found["clients"]) == ("not run", "", "", "2")
    assert found["published_mean"] == "60.0000"
    assert "not run" in (world.root / "tables" / "toy.md").read_text()


def test_partial_uses_the_seeds_that_are_there(world):
    world.suite(seeds=4, per_job=2)
    world.fill(seeds=(0, 1))
    world.table("--partial")
    assert rows(world)["local", "accuracy"]["n_seeds"] == "2"


def test_unknown_table_suggests_the_nearest(world, capsys):
    assert world.table(name="toi") == 1
    assert "did you mean 'toy'?" in capsys.readouterr().err


def test_unknown_key_of_a_table_is_named(world, capsys):
    world.suite(toy={**TABLE, "reproduced_withn": 1})
    assert world.table() == 1
    assert "unknown key 'reproduced_withn' (did you mean 'reproduced_within'?)" in capsys.readouterr().err


def test_unknown_published_table_is_named(world, capsys):
    world.suite(toy={**TABLE, "published": {"file": "toy.csv", "paper": "Toy", "table": "Table 2"}})
    world.fill()
    assert world.table() == 1
    assert "did you mean 'Toy, Table 1'?" in capsys.readouterr().err


def test_figure_published_twice_is_an_error(world, capsys):
    path = world.configs / "published" / "toy.csv"
    path.write_text(path.read_text() + path.read_text().splitlines()[1] + "\n")
    world.fill()
    assert world.table() == 1
    assert "twice" in capsys.readouterr().err


def test_client_without_nodes_is_left_out(world):
    world.fill()
    figures = {"val": flat(0.5)["val"], "test": {seed: [[0.1, 0.1], [math.nan, 0.7]] for seed in (0, 1)}}
    world.write(figures)
    world.table()
    assert rows(world)["local", "accuracy"]["mean"] == "70.0000"


def test_no_client_with_nodes_is_an_error(world, capsys):
    world.fill()
    world.write({"val": flat(0.5)["val"], "test": {seed: [[math.nan, math.nan]] * 2 for seed in (0, 1)}})
    assert world.table() == 1
    assert "only NaN" in capsys.readouterr().err


def test_record_of_another_code_version_is_shown_as_stale(world, monkeypatch):
    world.fill()
    monkeypatch.setattr("fedbench.provenance.code_digest", lambda method, task: "new" if method == "fedavg" else "")
    world.table()
    found = {method: row["stale"] for (method, _), row in rows(world).items()}
    assert found["fedavg"] == "code"
    assert "† made before a change of code;" in (world.root / "tables" / "toy.md").read_text()
    assert r"\underline{63.00}{\tiny\,$\pm$\,0.00}$^\dagger$" in (world.root / "tables" / "toy.tex").read_text()


def test_changed_settings_and_data_are_shown_as_stale(world):
    world.fill()
    world.configure("protocols", "toy", {"title": "Toy", "source": "-", "training": {"rounds": 3}})
    (world.results / "datasets" / "cora.npz").write_bytes(b"other")
    (world.results / "partitions" / "cora" / "metis-2.npz").unlink()
    world.table()
    assert {row["stale"] for row in rows(world).values()} == {"settings;dataset"}


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(path.read_bytes()[:200]), lambda path: path.unlink()])
@pytest.mark.parametrize("suffix", [".parquet", ".json"])
def test_damaged_record_is_an_error(world, capsys, damage, suffix):
    world.fill()
    damage((world.records / "toy/cora/metis-2/local/default/seeds-0-1.parquet").with_suffix(suffix))
    assert world.table() == 1
    message = capsys.readouterr().err
    assert "seeds-0-1" in message
    assert "run the job again" in message


def test_invalid_record_is_an_error(world, capsys):
    world.fill()
    world.write(flat(0.7), settings={"not": "what the digest says"})
    assert world.table() == 1
    assert "use the record toy/cora/metis-2/local/default/seeds-0-1" in capsys.readouterr().err


def test_full_disk_leaves_the_old_table_whole(world, capsys):
    world.fill()
    world.table()
    before = {path.name: path.read_bytes() for path in (world.root / "tables").iterdir()}
    world.write(flat(0.9), RUN.model_copy(update=OTHER), costs=costs((0, 1)))
    with full_disk():
        assert world.table() == 1
    assert "File too large" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (world.root / "tables").iterdir()} == before


def test_also_appends_a_row(world):
    world.suite(toy={**TABLE, "rows": TABLE["rows"][:1]})
    world.fill()
    world.table("--also", "majority,local")
    lines = (world.root / "tables" / "toy.csv").read_text().splitlines()
    assert [line.split(",")[3] for line in lines] == ["method", "local", "majority"]


def test_a_misspelt_published_method_is_refused(world, capsys):
    world.suite(toy={**TABLE, "rows": [{"method": "local", "published": "Lokal"}, *TABLE["rows"][1:]]})
    world.fill()
    assert world.table() == 1
    assert "no figure of 'Lokal' (did you mean 'Local'?) in Toy, Table 1" in capsys.readouterr().err
