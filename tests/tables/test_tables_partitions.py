"""The spread over partitions, against figures worked out by hand; and which jobs it asks for."""

import csv
import shutil

import pytest

from fedbench.configuration.suite import load_suite, runs_of_suite, table_in_suite
from fedbench.errors import ConfigurationError
from fedbench.records.pack import open_records
from fedbench.stats.summary import Summary
from fedbench.stats.verdict import kind_of, with_partitions
from tests.records.support import RUN, TABLE, costs, flat

SPREAD = {**TABLE, "rows": TABLE["rows"][:2], "partition_seeds": 3}
# Test accuracy at the chosen round, by method, partition and seed.
FIGURES = {
    "local": {"metis-2": (0.70, 0.72), "metis-2-s1": (0.66,), "metis-2-s2": (0.62,)},
    "fedavg": {"metis-2": (0.63, 0.63), "metis-2-s1": (0.60,), "metis-2-s2": (0.66,)},
}


def fill(world, figures=FIGURES):
    folder = world.results / "partitions" / "cora"
    for method, by_partition in figures.items():
        for partition, values in by_partition.items():
            if not (folder / f"{partition}.npz").exists():
                shutil.copy(folder / "metis-2.npz", folder / f"{partition}.npz")
            seeds = tuple(range(len(values)))
            test = {seed: [[0.1, 0.1], [value, value]] for seed, value in zip(seeds, values, strict=True)}
            run = RUN.model_copy(update={"method": method, "partition": partition})
            world.write({"val": flat(0.5, seeds=seeds)["val"], "test": test}, run, costs=costs(seeds))


def rows(world, out="tables"):
    lines = (world.root / out / "toy.csv").read_text().splitlines()
    return {row["method"]: row for row in csv.DictReader(lines)}


def test_spread_by_hand(world):
    world.suite(toy=SPREAD)
    fill(world)
    assert world.table() == 0
    local, fedavg = rows(world)["local"], rows(world)["fedavg"]
    # Run seed 0 alone counts: 70, 66, 62; the cell itself is over both seeds.
    assert (local["mean"], local["std"]) == ("71.0000", "1.0000")
    assert (local["partition_mean"], local["partition_std"], local["partitions_n"]) == ("66.0000", "3.2660", "3")
    assert local["verdict"] == "within spread"  # published 70 +- 0.5, ours 71 +- 1: plain verdicts stay as they are
    # 63 against the published 60: off by 3; over partitions 63 +- 2.45.
    assert fedavg["verdict"] == "off by +3.00, within partition spread"
    assert local["records"].count("seeds-0-0.json") == 2


def test_run_seeds_of_the_spread_can_be_more(world):
    world.suite(toy={**SPREAD, "partition_run_seeds": 2, "partition_seeds": 2, "rows": TABLE["rows"][:1]})
    fill(world, {"local": {"metis-2": (0.70, 0.72), "metis-2-s1": (0.66, 0.62)}})
    world.table()
    local = rows(world)["local"]  # partitions 71 and 64
    assert (local["partition_mean"], local["partition_std"], local["partitions_n"]) == ("67.5000", "3.5000", "2")


def test_one_partition_has_no_spread(world):
    world.suite(toy=SPREAD)
    fill(world, {"local": {"metis-2": (0.70, 0.72)}})
    world.table("--partial")
    assert (rows(world)["local"]["partition_std"], rows(world)["local"]["partitions_n"]) == ("", "1")
    assert "<br>partitions: 70.00 (1)<br>" in (world.root / "tables" / "toy.md").read_text()


def test_both_forms_print_it(world):
    world.suite(toy=SPREAD)
    fill(world)
    world.table()
    text = (world.root / "tables" / "toy.md").read_text()
    assert "71.00 ± 1.00**<br>partitions: 66.00 ± 3.27 (3)<br>70.00 ± 0.50: within spread" in text
    assert "Within partition spread: though off by more" in text
    assert "Verdicts here: 1 off by, within partition spread, 1 within spread." in text
    tex = (world.root / "tables" / "toy.tex").read_text()
    assert r"\quad{\tiny partitions} & {\tiny 66.00 \ensuremath{\pm} 3.27 (3)} \\" in tex


def test_jobs_are_planned_on_every_partition_with_its_own_seeds(world):
    world.suite(seeds=4, per_job=2, toy={**SPREAD, "partition_run_seeds": 3, "rows": TABLE["rows"][:1]})
    suite = load_suite("s", world.configs)
    planned = table_in_suite("toy", suite, world.configs).planned(suite.seed_blocks)
    assert [(run.partition, blocks) for run, blocks in planned] == [
        ("metis-2", ("0-1", "2-3")),
        ("metis-2-s1", ("0-1", "2-2")),
        ("metis-2-s2", ("0-1", "2-2")),
    ]
    assert [run.partition for run in runs_of_suite(suite, world.configs)] == ["metis-2", "metis-2-s1", "metis-2-s2"]


def test_a_suite_may_choose_the_number_of_partitions(world):
    world.suite(toy=SPREAD)
    values = {"title": "S", "description": "-", "seeds": 2, "tables": {"toy": {"partition_seeds": 1}}}
    world.configure("suites", "s", values)
    suite = load_suite("s", world.configs)
    assert table_in_suite("toy", suite, world.configs).files() == [("cora", "metis-2")]


def test_missing_records_of_other_partitions_are_missing(world, capsys):
    world.suite(toy=SPREAD)
    fill(world)
    (world.records / "toy/cora/metis-2-s1/local/default/seeds-0-0.parquet").unlink()
    (world.records / "toy/cora/metis-2-s1/local/default/seeds-0-0.json").unlink()
    assert world.table() == 1
    assert "toy/cora/metis-2-s1/local/default/seeds-0-0" in capsys.readouterr().err
    assert world.table("--partial") == 0
    found = rows(world)["local"]
    assert (found["partition_mean"], found["partitions_n"]) == ("66.0000", "2")  # 70 and 62


def test_a_bundle_holds_the_other_partitions(world):
    world.suite(toy=SPREAD)
    fill(world)
    bundle = world.root / "bundle"
    where = ["--configs", world.configs, "--records", world.records, "--out", bundle]
    assert world.run("pack", "--suite", "s", *where) == 0
    assert len(open_records(bundle).names()) == 6
    world.table(out="records")
    world.table(out="packed", records=bundle)
    texts = [(world.root / out / "toy.csv").read_bytes() for out in ("records", "packed")]
    assert texts[0] == texts[1]


def test_without_the_key_the_csv_has_the_old_columns(world):
    world.fill()
    world.table()
    assert (world.root / "tables" / "toy.csv").read_text().splitlines()[0].endswith("records,variant,stale")


@pytest.mark.parametrize(
    ("judged", "published", "partitions", "expected"),
    [
        ("off by +3.00", 60.0, Summary(63.0, 1.5, 5), "off by +3.00, within partition spread"),
        ("off by +3.00", 60.0, Summary(63.1, 1.5, 5), "off by +3.00"),
        ("off by +3.00", 60.0, Summary(60.0, 0.0, 1), "off by +3.00"),  # one partition has no spread
        ("reproduced", 60.0, Summary(60.0, 1.0, 5), "reproduced"),
        ("not run", 60.0, Summary(60.0, 1.0, 5), "not run"),
        ("not published", None, Summary(60.0, 1.0, 5), "not published"),
    ],
)
def test_verdict_over_partitions(judged, published, partitions, expected):
    assert with_partitions(judged, published, partitions) == expected


def test_both_parts_of_a_verdict_are_counted():
    assert kind_of("off by -3.10, within partition spread") == "off by, within partition spread"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partitions": ["metis-2-s1"]}, "partitions without a seed of their own"),
        ({"kind": "seconds"}, "`partition_seeds` needs the kind figure"),
        ({"rows": []}, "`protocol` and `rows` must be given"),
        ({"baseline": "local"}, "`baseline` needs the kind paired"),
        ({"kind": "paired", "partition_seeds": 1}, "`baseline` must name one of the rows"),
        ({"kind": "noniid", "partition_seeds": 1}, "`readings` must be given"),
    ],
)
def test_a_table_that_asks_for_what_cannot_be_is_an_error(world, change, message):
    world.suite(toy={**SPREAD, **change})
    with pytest.raises(ConfigurationError, match=message):
        table_in_suite("toy", load_suite("s", world.configs), world.configs)
