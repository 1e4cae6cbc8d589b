"""Tables with several figures: another metric chooses the round, groups of clients, figures side by side."""

import csv

import pytest

from fedbench.configuration.suite import Suite, table_in_suite
from fedbench.configuration.table import Metric, TableFile, load_table
from fedbench.configuration.table_parts import ClientGroup
from fedbench.errors import ConfigurationError, RecordError
from fedbench.partition.name import parse_name
from fedbench.partition.scheme import load_scheme
from fedbench.records.check import name_of
from fedbench.records.store import Record, read_record, table_of, write_record
from fedbench.stats.packing import rows_read
from fedbench.stats.selection import select
from tests.records.support import COLUMNS, RUN, TABLE, costs, flat, header_of, rows_of
from tests.tables.test_tables_configuration import CONFIGS, TABLES

RECALL = {"name": "recall", "label": "Recall", "chosen_by": "ndcg", "scale": 1, "unit": "of 1", "decimals": 3}
SCHEME = {"scheme": "co-cluster", "title": "t", "source": "s", "items": "disjoint", "method": "rownorm",
          "regularise": 1.0}  # fmt: skip
SIDE = {**TABLE, "published": None, "rows": [{"method": "local"}, {"method": "fedavg"}], "metric": RECALL}


def together(*parts):
    """Return the rows of several metrics as one record's columns."""
    return {name: [value for part in parts for value in part[name]] for name in COLUMNS}


def record(run=RUN, **changes):
    """Recall is best in validation in round 1, NDCG in round 2; two clients, one seed."""
    recall = rows_of({"val": {0: [[0.9, 0.9], [0.1, 0.1]]}, "test": {0: [[0.5, 0.7], [0.3, 0.4]]}}, "recall")
    ndcg = rows_of({"val": {0: [[0.1, 0.3], [0.2, 0.6]]}, "test": {0: [[0.8, 0.8], [0.2, 0.1]]}}, "ndcg")
    return Record(header_of(run, (0,), **changes), table_of(together(recall, ndcg)))


@pytest.mark.parametrize(("chosen_by", "round", "value"), [(None, 1, 0.6), ("ndcg", 2, 0.35)])
def test_the_round_is_chosen_by_the_metric_that_is_named(chosen_by, round, value):
    chosen = select([record()], Metric(name="recall", chosen_by=chosen_by))
    assert (chosen.rounds, chosen.values.tolist()) == ((round,), [pytest.approx(value)])


def test_a_group_is_averaged_at_the_round_that_all_clients_choose():
    # Client 0 alone: recall of validation 0.9 then 0.1; all by NDCG 0.2 then 0.4, so round 2.
    one = Metric(name="recall", chosen_by="ndcg", group=ClientGroup(name="first", first=0, last=0))
    assert select([record()], one).values.tolist() == [pytest.approx(0.3)]
    with pytest.raises(RecordError, match="no such rows"):
        select([record()], Metric(name="recall", group=ClientGroup(name="none", first=2, last=9)))


def test_a_metric_that_chooses_must_be_recorded():
    with pytest.raises(RecordError, match="auc on val"):
        select([record()], Metric(name="recall", chosen_by="auc"))


@pytest.fixture
def several(world):
    """Recall of all clients, of the first one, and NDCG; FedAvg has no record."""
    first = {**RECALL, "label": "", "group": {"name": "first", "first": 0, "last": 0}}
    further = [first, {**RECALL, "name": "ndcg", "label": "NDCG"}]
    world.suite(seeds=1, per_job=1, toy={**SIDE, "further": further})
    made = record()
    path = world.write(flat(0.5, seeds=(0,)), costs=costs((0,)))
    write_record(path, Record(read_record(path).header, made.table))
    assert world.table("--partial") == 0
    return world.root / "tables"


def test_figures_stand_side_by_side(several):
    text = (several / "toy.md").read_text()
    assert "| Method | Cora, Recall | Cora, recall, first | Cora, NDCG |" in text
    assert "| local | 0.350 | 0.300 | 0.150 |" in text
    assert "| fedavg | not run | not run | not run |" in text
    assert r"\multicolumn{3}{c}{Cora}" in (several / "toy.tex").read_text()


def test_the_csv_has_a_row_a_figure(several):
    rows = list(csv.DictReader((several / "toy.csv").read_text().splitlines()))
    found = {(row["method"], row["metric"]): row["mean"] for row in rows}
    assert found == {
        ("local", "recall"): "0.3500",
        ("local", "recall, first"): "0.3000",
        ("local", "ndcg"): "0.1500",
        **{("fedavg", name): "" for name in ("recall", "recall, first", "ndcg")},
    }


def test_a_column_names_its_partition_where_there_are_several(world):
    further = [{**RECALL, "name": "ndcg", "label": "NDCG"}]
    world.suite(seeds=1, per_job=1, toy={**SIDE, "partitions": ["metis-2", "metis-3"], "further": further})
    write_record(world.records / "toy/cora/metis-2/local/default/seeds-0-0.parquet", record())
    world.table("--partial")
    head = "| Method | Cora, K = 2, Recall | Cora, K = 2, NDCG | Cora, K = 3, Recall | Cora, K = 3, NDCG |"
    text = (world.root / "tables" / "toy.md").read_text()
    assert head in text
    assert "| local | 0.350 † | 0.150 † | not run | not run |" in text


def test_a_bundle_keeps_what_is_read():
    table = TableFile(**{**SIDE, "published": (), "further": [{**RECALL, "name": "auc", "chosen_by": None}]})
    read = rows_read([table])
    assert {("recall", "test"), ("ndcg", "val"), ("auc", "test"), ("auc", "val"), ("pairs_outside", "test")} <= read
    assert ("local_epochs", "none") in read  # the figure of local steps counts them


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "seconds"}, "`further` needs the kind figure"),
        ({"metric": {**RECALL, "name": "auc"}}, "may be given once"),
    ],
)
def test_further_figures_must_fit(change, message):
    values = {**SIDE, "published": (), "further": [{**RECALL, "name": "auc"}], **change}
    with pytest.raises(ValueError, match=message):
        TableFile(**values)


@pytest.mark.parametrize(
    ("choice", "rows"),
    [
        ({"only": ["fedper", "local"]}, ["local/default", "fedper/default"]),
        ({"only": ["fedper", "local"], "without": ["local"]}, ["fedper/default"]),
        ({}, ["local/default", "fedavg/default", "fedper/default", "majority/default"]),
    ],
)
def test_a_suite_keeps_rows_or_leaves_them_out(world, choice, rows):
    suite = Suite(title="s", description="-", tables={"toy": choice})
    assert [row.name for row in table_in_suite("toy", suite, world.configs).rows] == rows


def test_a_suite_that_keeps_an_unknown_row_is_refused(world):
    suite = Suite(title="s", description="-", tables={"toy": {"only": ["fedpre"]}})
    with pytest.raises(ConfigurationError, match=r"no row fedpre.default .did you mean 'fedper.default'"):
        table_in_suite("toy", suite, world.configs)


def test_groups_of_tables_are_those_of_their_partitions():
    table = load_table("lpsfed-imbalance", CONFIGS)
    groups = load_scheme(parse_name(table.partitions[0]).scheme, CONFIGS).groups
    first = 0
    for name, size in zip(groups.names, groups.sizes, strict=True):
        mine = [metric.group for metric in table.metrics if metric.group and metric.group.name == name]
        assert [(group.first, group.last) for group in mine] == 2 * [(first, first + size - 1)]
        first += size
    assert first == parse_name(table.partitions[0]).clients


@pytest.mark.parametrize("name", [name for name in TABLES if name.startswith("lpsfed")])
def test_captions_of_recommendation_say_what_the_figures_depend_on(name):
    table = load_table(name, CONFIGS)
    assert table.kind != "figure" or all(metric.chosen_by == "ndcg@20" for metric in table.metrics)
    for partition in table.partitions:
        scheme = load_scheme(parse_name(partition).scheme, CONFIGS)
        assert f"items {scheme.items}" in table.caption
        assert "co-clustering" in table.caption or "LPSFed's main table" in table.caption


def silent(world, method, up, **known):
    """Write a record of recommendation: three test pairs inside and one outside, 40 and 60 candidates."""
    sizes = {"candidates": [40, 60], "pairs": [1, 2], "pairs_outside": [1, 0]}
    parts = [rows_of({"test": {0: [values]}}, name) for name, values in sizes.items()]
    run = RUN.model_copy(update={"method": method, "partition": "co-cluster-2"})
    made = Record(
        header_of(run, (0,), task="rec", costs=costs((0,), up=up, down=0), diagnostics={"0": {"preparation": known}}),
        table_of(together(rows_of(flat(0.5, seeds=(0,))), *parts)),
    )
    write_record(world.records / f"{name_of(made.header)}.parquet", made)


def test_notes_say_what_is_left_out_and_who_sends_nothing(world):
    world.configure("partitions", "co-cluster", SCHEME)
    world.suite(seeds=1, per_job=1, toy={**SIDE, "metric": {}, "partitions": ["co-cluster-2"]})
    silent(world, "local", 0)
    silent(world, "fedavg", 8, items_in_several_clients=0, exchanged="two sums")
    assert world.table() == 0
    text = (world.root / "tables" / "toy.md").read_text()
    assert r"candidates a client: cora, co-cluster-2 (items disjoint): 25.0 %, 40 to 60." in text
    assert "Nothing is sent (0 bytes in the records): local. What would share" in text
    assert "No item lies in several clients" in text and "What is sent instead by fedavg: two sums." in text


def test_rows_that_share_items_are_not_said_to_share_none(world):
    world.suite(seeds=1, per_job=1, toy={**SIDE, "metric": {}, "partitions": ["co-cluster-2"]})
    silent(world, "local", 8, items_in_several_clients=3)
    silent(world, "fedavg", 8)
    world.configure("partitions", "co-cluster", SCHEME)
    assert world.table() == 0
    assert "No item lies in" not in (world.root / "tables" / "toy.md").read_text()


def chosen_in(world, method, validation, seeds=(0,)):
    """Write a record whose validation figures of rounds 1, 2, ... are given, a list a seed."""
    val = {seed: [[value, value] for value in values] for seed, values in zip(seeds, validation, strict=True)}
    test = {seed: [[0.5, 0.5]] * len(values) for seed, values in zip(seeds, validation, strict=True)}
    parts = [rows_of({"val": val, "test": test}, name) for name in ("recall", "ndcg")]
    run = RUN.model_copy(update={"method": method})
    made = Record(header_of(run, seeds), table_of(together(*parts)))
    write_record(world.records / f"{name_of(made.header)}.parquet", made)


def test_the_round_of_every_cell_is_printed_and_rounds_at_an_end_are_named(world):
    rows = [{"method": name} for name in ("local", "fedavg", "fedper", "majority")]
    world.suite(seeds=3, per_job=3, toy={**SIDE, "rows": rows})
    early, middle, late = [0.9, 0.1, 0.1], [0.1, 0.9, 0.1], [0.1, 0.2, 0.9]
    chosen_in(world, "local", [early, early, middle], (0, 1, 2))
    chosen_in(world, "fedavg", [middle, middle, late], (0, 1, 2))
    chosen_in(world, "fedper", [late, late, early], (0, 1, 2))
    chosen_in(world, "majority", [[0.5], [0.5], [0.5]], (0, 1, 2))
    assert world.table() == 0
    with (world.root / "tables" / "toy.csv").open(newline="") as file:
        found = {row["method"]: row for row in csv.DictReader(file)}
    assert [found[name]["selected_rounds"] for name in ("local", "fedavg", "fedper")] == ["1;1;2", "2;2;3", "3;3;1"]
    assert (found["local"]["first_evaluated"], found["local"]["last_evaluated"]) == ("1", "3")
    text = (world.root / "tables" / "toy.md").read_text()
    assert "Chosen at the first evaluation in most seeds: local. No later round" in text
    assert "Chosen at the end of the budget in most seeds: fedper. No earlier round" in text


def test_other_tasks_have_no_such_notes(world):
    world.suite(toy=TABLE)
    world.fill()
    world.table()
    text = (world.root / "tables" / "toy.md").read_text()
    assert "candidates" not in text
    assert "Nothing is sent" not in text
