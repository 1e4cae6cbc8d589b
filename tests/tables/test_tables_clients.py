"""Tables over clients: panels, a floor that isn't ranked, a variant and a partition by data set, what weights did."""

import csv

import pytest

from fedbench.configuration.suite import load_suite, table_in_suite
from fedbench.configuration.table import TableFile
from fedbench.errors import ConfigurationError
from fedbench.files import write_arrays
from fedbench.records.store import Record, read_record, table_of, write_record
from tests.records.support import NAMES, RUN, TABLE, rows_of
from tests.tables.test_tables_layout import check_structure

# Two clients at 50 and 70: AVG 60, STD 10. FedAvg 62 and 64, the floor 80 and 80.
SCORES = {"local": (0.5, 0.7), "fedavg": (0.62, 0.64), "majority": (0.8, 0.8)}
METRIC = {"select": "last_rounds", "last": 1}
PUBLISHED = """paper,table,dataset,partition,clients,method,metric,mean,std,source
Toy,Table 1,Cora,METIS disjoint,,Local,AVG,60.10,,made up
Toy,Table 1,Cora,METIS disjoint,,Local,STD,4.00,,made up
"""
CLIENTS = {
    **TABLE,
    "kind": "clients",
    "metric": METRIC,
    "floor": "majority",
    "rows": [{"method": "majority"}, {"method": "local", "published": "Local"}, {"method": "fedavg"}],
}


def read(world, name="toy"):
    lines = (world.root / "tables" / f"{name}.csv").read_text().splitlines()
    return list(csv.DictReader(lines))


def cell(world, method, metric):
    return next(row for row in read(world) if (row["method"], row["metric"]) == (method, metric))


def fill(world, scores=SCORES, partition="metis-2", dataset="cora", variant="default"):
    for method, clients in scores.items():
        figures = {"test": {seed: [[0.1, 0.1], list(clients)] for seed in (0, 1)}}
        run = RUN.model_copy(update={"method": method, "partition": partition, "dataset": dataset, "variant": variant})
        yield world.write(figures, run)


@pytest.fixture
def filled(world):
    names = {**NAMES, "metrics": {**NAMES["metrics"], "average": "AVG", "deviation": "STD"}}
    world.configure("published", "names", names)
    (world.configs / "published" / "toy.csv").write_text(PUBLISHED)
    world.suite(toy=CLIENTS)
    list(fill(world))
    return world


def test_both_figures_stand_beside_the_published_ones(filled):
    assert filled.table() == 0
    average, deviation = (cell(filled, "local", name) for name in ("average", "deviation"))
    assert (average["mean"], average["published_mean"], average["verdict"]) == ("60.0000", "60.1000", "reproduced")
    assert (deviation["mean"], deviation["published_mean"]) == ("10.0000", "4.0000")
    assert deviation["verdict"] == "off by +6.00"
    assert (average["over_rounds"], average["mode"], average["ddof"]) == ("1", "per_round", "0")


def test_the_floor_is_printed_last_and_not_ranked(filled):
    filled.table()
    text = (filled.root / "tables" / "toy.md").read_text()
    averages, deviations = text.split("**STD: standard deviation over clients, points**")
    assert "**AVG: mean over clients, %**" in averages
    for panel, best in ((averages, "fedavg | **63.00 ±"), (deviations, "fedavg | **1.00 ±")):
        rows = [line for line in panel.splitlines() if line.startswith("| ")]
        assert [row.split(" | ")[0] for row in rows[1:]] == ["| local", "| fedavg", "| majority"]
        assert best in panel
    assert "| majority | 80.00 ± 0.00<br>seeds: 2 |" in averages
    check_structure((filled.root / "tables" / "toy.tex").read_text())


def test_each_cell_says_its_number_of_seeds(filled):
    filled.suite(seeds=2, per_job=1, toy=CLIENTS)
    filled.write({"test": {0: [[0.1, 0.1], [0.4, 0.6]]}}, RUN)
    assert filled.table("--partial") == 0
    text = (filled.root / "tables" / "toy.md").read_text()
    assert "seeds: 1<br>60.10: off by -10.10 |" in text
    assert "| fedavg | not run |" in text


def weighted(path, rounds):
    record = read_record(path)
    more = rows_of({"none": dict.fromkeys((0, 1), rounds)}, "weight")
    old = record.table.to_pydict()
    write_record(path, Record(record.header, table_of({name: [*old[name], *more[name]] for name in old})))


@pytest.mark.parametrize(
    ("weights", "text"), [([0.5, 0.5], "no, 1.00 to 1.00 of 1/K"), ([0.45, 0.55], "yes, 0.90 to 1.10 of 1/K")]
)
def test_the_table_says_whether_weights_departed(filled, weights, text):
    filled.suite(toy={**CLIENTS, "weights": "weight"})
    weighted(filled.records / "toy/cora/metis-2/fedavg/default/seeds-0-1.parquet", [[0.5, 0.5], weights])
    filled.table()
    assert f"w departed from uniform: {text}" in (filled.root / "tables" / "toy.md").read_text()
    assert cell(filled, "fedavg", "average")["weights_departed"] == text.split(",")[0]
    assert cell(filled, "local", "average")["weights_departed"] == ""


def test_a_bundle_keeps_the_weights(filled):
    filled.suite(toy={**CLIENTS, "weights": "weight"})
    weighted(filled.records / "toy/cora/metis-2/fedavg/default/seeds-0-1.parquet", [[0.5, 0.5], [0.2, 0.8]])
    bundle = filled.root / "bundle"
    where = ["--configs", filled.configs, "--records", filled.records, "--out", bundle]
    assert filled.run("pack", "--suite", "s", *where) == 0
    assert filled.table() == 0
    before = (filled.root / "tables" / "toy.md").read_bytes()
    assert filled.table(records=bundle) == 0
    assert (filled.root / "tables" / "toy.md").read_bytes() == before


def test_fairness_has_the_worst_client_and_jains_index(filled):
    filled.suite(toy={**CLIENTS, "kind": "fairness", "published": None})
    filled.table()
    assert cell(filled, "local", "worst")["mean"] == "50.0000"
    assert cell(filled, "local", "jain")["mean"] == f"{120**2 / (2 * (50**2 + 70**2)):.4f}"
    text = (filled.root / "tables" / "toy.md").read_text()
    assert "**Worst client, %**" in text and "**Jain's index over clients (1: all alike)**" in text


def test_a_row_shows_another_variant_in_another_data_set(filled):
    """One row, two data sets with one partition each, in the second another variant."""
    write_arrays(filled.results / "datasets" / "pubmed.npz", {}, {})
    write_arrays(filled.results / "partitions" / "pubmed" / "metis-3.npz", {}, {})
    filled.configure("methods", "fedavg", {"label": "FedAvg", "variants": {
        "default": {"note": "as it is"}, "other": {"note": "changed there"}}})  # fmt: skip
    list(fill(filled, {"fedavg": (0.3, 0.5)}, "metis-3", "pubmed", "other"))
    table = {
        **CLIENTS, "published": None, "floor": None, "datasets": ["cora", "pubmed"], "partitions": [],
        "partition_of": {"cora": "metis-2", "pubmed": "metis-3"},
        "rows": [{"method": "fedavg", "by_dataset": {"pubmed": "other"}}],
    }  # fmt: skip
    filled.suite(toy=table)
    assert filled.table() == 0
    assert [(row["dataset"], row["partition"], row["variant"], row["mean"]) for row in read(filled)][::2] == [
        ("cora", "metis-2", "default", "63.0000"),
        ("pubmed", "metis-3", "other", "40.0000"),
    ]
    text = (filled.root / "tables" / "toy.md").read_text()
    assert "| FedAvg | **63.00 ± 0.00**<br>seeds: 2 | **40.00 ± 0.00**<br>seeds: 2 |" in text
    assert "- FedAvg in Cora: as it is." in text and "- FedAvg in pubmed: changed there." in text
    assert "| Method | Cora, K = 2 | pubmed, K = 3 |" in text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"partitions": []}, "no partition of cora"),
        ({"floor": "gcfl"}, "`floor` must name one of the rows"),
        ({"metric": {}}, "must be last_rounds"),
        ({"kind": "figure", "weights": "weight"}, "`weights` needs the kind"),
        ({"rows": [{"method": "a", "by_dataset": {"cora": "b"}}, {"method": "a", "variant": "b"}], "floor": None},
         "another row's too"),
    ],
)  # fmt: skip
def test_a_table_that_says_too_little_is_an_error(changes, text):
    with pytest.raises(ValueError, match=text):
        TableFile.model_validate({**CLIENTS, "published": None, **changes})


def test_a_suite_keeps_rows_and_says_how_many_seeds_a_job_has(world):
    choice = {"only": ["local", "fedavg"], "seeds_per_job": 1}
    values = {"title": "S", "description": "-", "seeds": 3, "first_seed": 1, "tables": {"toy": choice, "other": {}}}
    world.configure("suites", "s", values)
    world.configure("tables", "other", TABLE)
    suite = load_suite("s", world.configs)
    assert [row.method for row in table_in_suite("toy", suite, world.configs).rows] == ["local", "fedavg"]
    assert (suite.blocks_of("toy"), suite.blocks_of("other")) == (["1-1", "2-2", "3-3"], ["1-3"])
    world.configure("suites", "s", {**values, "tables": {"toy": {"only": ["locla"]}}})
    with pytest.raises(ConfigurationError, match="no row locla/default"):
        table_in_suite("toy", load_suite("s", world.configs), world.configs)
