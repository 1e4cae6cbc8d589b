"""Other metrics, several published sources, and paired differences."""

import csv
import math

import numpy as np
import pytest
from scipy import stats

from fedbench.files import write_arrays
from fedbench.records.schema import SeedCost
from fedbench.stats.paired import t_interval
from fedbench.stats.summary import summarise
from fedbench.tables.marks import marks
from tests.records.support import NAMES, PUBLISHED, RUN, TABLE, costs, flat
from tests.tables.test_tables_layout import check_structure

SCORES = {"local": (0.70, 0.71, 0.75), "fedavg": (0.60, 0.65, 0.66), "fedper": (0.71, 0.71, 0.70)}
PAIRED = {**TABLE, "kind": "paired", "published": None, "baseline": "local", "rows": TABLE["rows"][:3]}
AUC = {"name": "attack_auc", "split": "none", "select": "last_round", "scale": 1, "unit": "AUC", "decimals": 3}


def rows(world):
    lines = (world.root / "tables" / "toy.csv").read_text().splitlines()
    return {row["method"]: row for row in csv.DictReader(lines)}


def fill(world, scores=SCORES, partition="metis-2"):
    for method, values in scores.items():
        test = {seed: [[0.1, 0.1], [value, value]] for seed, value in enumerate(values)}
        val = flat(0.5, seeds=tuple(test))["val"]
        run = RUN.model_copy(update={"method": method, "partition": partition})
        world.write({"val": val, "test": test}, run, costs=costs(tuple(test)))


def test_paired_by_hand(world):
    world.suite(seeds=3, per_job=3, toy=PAIRED)
    fill(world)
    assert world.table() == 0
    assert list(rows(world)) == ["fedavg", "fedper"]
    found = rows(world)["fedavg"]  # differences -10, -6, -9
    assert (found["mean"], found["std"], found["n_seeds"], found["wins"]) == ("-8.3333", "2.0817", "3", "0")
    interval = stats.ttest_1samp([-10, -6, -9], 0).confidence_interval(0.95)
    assert (float(found["low"]), float(found["high"])) == pytest.approx(tuple(interval), abs=1e-4)
    assert (found["baseline"], found["metric"]) == ("local/default", "accuracy_difference")
    assert "toy/cora/metis-2/local/default/seeds-0-2.json" in found["records"]
    assert rows(world)["fedper"]["wins"] == "1"  # +1, 0, -5


def test_paired_in_print(world):
    world.suite(seeds=3, per_job=3, toy=PAIRED)
    fill(world)
    world.table()
    text = (world.root / "tables" / "toy.md").read_text()
    assert r"| -8.33 ± 2.08<br>95 % interval: \[-13.50, -3.16\]<br>better: 0/3 |" in text
    assert "Each figure is the row minus local in points, paired by seed" in text


TWO_COLUMNS = {**PAIRED, "partitions": ["metis-2", "metis-3"]}
AT_THREE = {"local": (0.5, 0.5, 0.5), "fedavg": (0.7, 0.5, 0.6), "fedper": (0.5, 0.5, 0.5)}


def test_over_all_columns_a_seed_has_the_mean_of_its_differences(world):
    world.suite(seeds=3, per_job=3, toy=TWO_COLUMNS)
    fill(world)
    write_arrays(world.results / "partitions" / "cora" / "metis-3.npz", {}, {})
    fill(world, AT_THREE, "metis-3")
    assert world.table() == 0
    found = rows(world)["fedavg"]  # the last of its row; differences (-10 + 20) / 2, (-6 + 0) / 2, (-9 + 10) / 2
    assert (found["dataset"], found["partition"], found["clients"]) == ("all", "all", "")
    assert (found["mean"], found["n_seeds"], found["wins"]) == ("0.8333", "3", "2")
    interval = stats.ttest_1samp([5, -3, 0.5], 0).confidence_interval(0.95)
    assert (float(found["low"]), float(found["high"])) == pytest.approx(tuple(interval), abs=1e-4)
    assert len(found["records"].split(";")) == 4
    text = (world.root / "tables" / "toy.md").read_text()
    assert "| Method | Cora, K = 2 | Cora, K = 3 | All columns, mean |" in text
    assert "All columns: each seed's mean difference over the columns" in text
    check_structure((world.root / "tables" / "toy.tex").read_text())


def test_over_all_columns_says_nothing_while_one_is_missing(world):
    world.suite(seeds=3, per_job=3, toy=TWO_COLUMNS)
    fill(world)
    world.table("--partial")
    assert rows(world)["fedavg"]["verdict"] == "not run"


def test_where_lower_is_better_a_win_is_lower(world):
    world.suite(seeds=3, per_job=3, toy={**PAIRED, "metric": {"better": "lower"}})
    fill(world)
    world.table()
    assert rows(world)["fedavg"]["wins"] == "3"


def test_a_baseline_without_records_leaves_the_row_not_run(world):
    world.suite(seeds=3, per_job=3, toy={**PAIRED, "baseline": "fedper"})
    fill(world, {name: SCORES[name] for name in ("fedavg", "local")})
    world.table("--partial")
    assert {row["verdict"] for row in rows(world).values()} == {"not run"}
    fill(world, {"fedper": SCORES["fedper"]})
    (world.records / "toy/cora/metis-2/local/default/seeds-0-2.parquet").unlink()
    (world.records / "toy/cora/metis-2/local/default/seeds-0-2.json").unlink()
    world.table("--partial")
    assert {name: row["wins"] for name, row in rows(world).items()} == {"local": "", "fedavg": "0"}


@pytest.mark.parametrize("n", [2, 3, 20])
def test_interval_agrees_with_scipy(n):
    values = np.random.default_rng(n).normal(1, 2, n)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert t_interval(summarise(dict(enumerate(values)), ddof=1)) == pytest.approx(tuple(expected))


def test_one_difference_has_no_interval():
    assert all(math.isnan(edge) for edge in t_interval(summarise({0: 1.0}, ddof=1)))


def test_marks_where_lower_is_better():
    assert marks({"a": 0.51, "b": 0.49, "c": 0.60}, decimals=2, better="lower") == {"a": "second", "b": "best", "c": ""}


@pytest.fixture
def attacked(world):
    """A table of attack AUC, which belongs to no client or split, beside figures without a number of clients."""
    world.configure("published", "names", {**NAMES, "metrics": {"attack_auc": "attack_AUC"}})
    (world.configs / "published" / "toy.csv").write_text(
        PUBLISHED.splitlines()[0] + "\nToy,Table 1,Cora,METIS disjoint,,Local,attack_AUC,0.56,,made up\n"
        "Toy,Table 1,Cora,METIS disjoint,,FedAvg,attack_AUC,0.51,,made up\n"
    )
    world.suite(
        toy={**TABLE, "metric": {**AUC, "better": "lower"}, "rows": TABLE["rows"][:2], "reproduced_within": 0.02}
    )
    for method, auc in {"local": 0.57, "fedavg": 0.54}.items():
        figures = {"none": {seed: [[0.9, 0.9], [auc, auc]] for seed in (0, 1)}}
        world.write(figures, RUN.model_copy(update={"method": method}), metric="attack_auc", costs=costs((0, 1)))
    return world


def test_another_metric_by_hand(attacked):
    assert attacked.table() == 0
    local, fedavg = rows(attacked)["local"], rows(attacked)["fedavg"]
    assert (local["mean"], local["published_mean"], local["verdict"]) == ("0.5700", "0.5600", "reproduced")
    assert (fedavg["metric"], fedavg["verdict"]) == ("attack_auc", "off by +0.030")


def test_another_metric_in_print(attacked):
    attacked.table()
    text = (attacked.root / "tables" / "toy.md").read_text()
    assert "**0.540 ± 0.000**<br>0.510: off by +0.030" in text
    assert "Lower is better: bold is the lowest AUC." in text
    assert "differs from the published one by at most 0.02 AUC" in text


def test_a_stated_number_of_clients_limits_a_figure_without_one(attacked):
    source = {**TABLE["published"], "clients": [5]}
    attacked.configure("tables", "toy", {**TABLE, "metric": AUC, "rows": TABLE["rows"][:2], "published": source})
    attacked.table()
    assert rows(attacked)["local"]["verdict"] == "not published"


def test_several_sources(world):
    path = world.configs / "published" / "toy.csv"
    path.write_text(path.read_text() + "Other,Report,Cora,parts,2,Loc,acc,0.705,0.01,made up\n")
    other = {"file": "toy.csv", "paper": "Other", "table": "Report", "name": "b", "metric": "acc", "partition": "parts"}
    sources = [{**TABLE["published"], "name": "a"}, {**other, "scale": 100}]
    names = [{"method": "local", "published": {"a": "Local", "b": "Loc"}}, {"method": "fedavg", "published": "FedAvg"}]
    world.suite(toy={**TABLE, "published": sources, "rows": [*names, {"method": "fedper", "published": {"b": "Loc"}}]})
    world.fill()
    assert world.table() == 0
    found = rows(world)
    assert (found["local"]["published_source"], found["local"]["published_mean"]) == ("Toy, Table 1", "70.0000")
    assert found["local"]["also_published"] == "70.50 ± 1.00 (Other, Report)"
    assert (found["fedper"]["published_source"], found["fedper"]["published_mean"]) == ("Other, Report", "70.5000")
    text = (world.root / "tables" / "toy.md").read_text()
    assert r"70.00 ± 0.50 \[a\]: reproduced<br>also 70.50 ± 1.00 \[b\]" in text
    assert r"\[a\] Toy, Table 1; \[b\] Other, Report." in text
    assert r"\quad{\tiny also published} & {\tiny 70.50 \ensuremath{\pm} 1.00 [b]} \\" in (
        (world.root / "tables" / "toy.tex").read_text()
    )


def test_methods_are_ranked_by_one_source(world):
    path = world.configs / "published" / "toy.csv"
    path.write_text(path.read_text() + "Other,Report,Cora,METIS disjoint,2,Major,accuracy_%,99,,made up\n")
    sources = [
        {**TABLE["published"], "name": "a"},
        {"file": "toy.csv", "paper": "Other", "table": "Report", "name": "b"},
    ]
    rows = [*TABLE["rows"][:3], {"method": "majority", "published": {"b": "Major"}}]
    world.suite(toy={**TABLE, "published": sources, "rows": rows})
    world.fill()
    world.table()
    assert "| *Spearman's rho* | 1.00 (3) |" in (world.root / "tables" / "toy.md").read_text()


@pytest.mark.parametrize("table", [PAIRED, {**TABLE, "published": [TABLE["published"], TABLE["published"]]}])
def test_tex_of_more_lines_is_well_formed(world, table):
    world.suite(seeds=3, per_job=3, toy={**table, "rows": TABLE["rows"][:3]})
    fill(world)
    world.table()
    text = (world.root / "tables" / "toy.tex").read_text()
    assert r"95 \% interval" in text or "also published" in text
    check_structure(text)


def test_the_kind_has_kept_its_former_name(world):
    world.fill()
    world.suite(toy={**TABLE, "kind": "accuracy"})
    world.table()
    former = (world.root / "tables" / "toy.csv").read_bytes()
    world.suite(toy={**TABLE, "kind": "figure"})
    world.table()
    assert (world.root / "tables" / "toy.csv").read_bytes() == former


ROUNDS = {**TABLE, "kind": "rounds", "published": None, "baseline": "fedavg", "measured": True}


def timed(world, method, training, evaluation):
    spent = tuple(SeedCost(seed=s, training_seconds=training, evaluation_seconds=evaluation) for s in (0, 1))
    world.write(flat(0.5), RUN.model_copy(update={"method": method}), costs=spent)


def test_a_round_is_set_against_the_baselines(world):
    world.suite(toy=ROUNDS)
    timed(world, "fedavg", 2.0, 1.0)  # two rounds: 1000 and 500 ms each
    timed(world, "local", 5.0, 1.0)
    assert world.table("--partial") == 0
    lines = (world.root / "tables" / "toy.csv").read_text().splitlines()
    found = {(row["method"], row["metric"]): row["mean"] for row in csv.DictReader(lines)}
    assert found["local", "training_ms_per_round"] == "2500.0000"
    assert found["local", "evaluation_ms_per_round"] == "500.0000"
    assert found["local", "times_baseline"] == "2.5000"
    assert found["local", "times_baseline_with_evaluation"] == "2.0000"
    assert found["fedavg", "times_baseline"] == "1.0000"
    assert found["fedper", "times_baseline"] == ""
    text = (world.root / "tables" / "toy.md").read_text()
    assert "The baseline is fedavg." in text and "| local | 2.50 |" in text


def test_without_the_baselines_records_there_are_no_ratios(world):
    world.suite(toy=ROUNDS)
    timed(world, "local", 5.0, 1.0)
    assert world.table("--partial") == 0
    assert "| local | 2,500.0 ± 0.0 |" in (world.root / "tables" / "toy.md").read_text()
    assert rows(world)["local"]["mean"] == ""  # the last figure, times_baseline_with_evaluation
