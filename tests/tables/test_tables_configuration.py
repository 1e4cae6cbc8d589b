"""The committed table specifications and published figures."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from fedbench.configuration.table import load_table
from fedbench.stats.measures import metrics_of
from fedbench.stats.published import load_names, load_published

CONFIGS = Path(__file__).parents[2] / "configs"
TABLES = sorted(path.stem for path in (CONFIGS / "tables").glob("*.yaml"))
PUBLISHED = CONFIGS / "published" / "subgraph-fl.csv"
GRAPHS = CONFIGS / "published" / "graph-fl.csv"


# Their sources print some of the columns only.
GAPS = {
    "fedpub-overlapping",
    "fedsage-owners",
    "fedsst-main",
    "fedsst-ablation",
    "calibration-graph",
    "gcfl-one-data-set",
    "fedigl-table1",
    "lpsfed-main",
    "lpsfed-imbalance",
    "lpsfed-ablation",
}


def printed_names(table):
    """Return (row, its published name) for every source a row has a name in."""
    rows = [row for row in table.printed_rows if row.published]
    return [(row, name) for row in rows for name in ([row.published] if isinstance(row.published, str) else
            [{key: value} for key, value in row.published.items()])]  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_published_name_has_its_figures(name):
    table = load_table(name, CONFIGS)
    figures = load_published(table.published, CONFIGS)
    for row, published in printed_names(table):
        keys = [key for metric in table.metrics for key in metrics_of(table.kind, metric)]
        found = [bool(figures.get(d, p, published, key)) for d, p in table.columns for key in keys]
        assert any(found) if name in GAPS else all(found), (row, published)


@pytest.mark.parametrize("name", TABLES)
def test_every_source_is_named_by_some_row(name):
    table = load_table(name, CONFIGS)
    keys = {key for row in table.rows if isinstance(row.published, dict) for key in row.published}
    assert keys <= {source.name for source in table.published}


def test_fractions_become_percent_and_sources_have_an_order():
    table = load_table("fedsage-owners", CONFIGS)
    row = next(row for row in table.rows if row.method == "fedsage_plus")
    found = load_published(table.published, CONFIGS).every("cora", "louvain-3", row.published, "accuracy")
    assert [(figure.mean, figure.std, figure.source) for figure in found] == [
        (90.06, None, 0),
        (83.58, None, 1),
        (87.68, 1.55, 2),
    ]
    assert load_published(table.published, CONFIGS).every("cora", "louvain-5", row.published, "accuracy") == []


def test_a_figure_without_clients_stands_beside_the_stated_ones_alone():
    table = load_table("fedaux-membership", CONFIGS)
    figures = load_published(table.published, CONFIGS)
    assert figures.get("cora", "metis-10", "FedAux", "attack_auc").mean == 0.51
    assert figures.get("cora", "metis-5", "FedAux", "attack_auc") is None
    anywhere = [source.model_copy(update={"clients": None}) for source in table.published]
    assert load_published(anywhere, CONFIGS).get("cora", "metis-5", "FedAux", "attack_auc").mean == 0.51


def test_overlapping_figures_are_those_at_the_best_validation_round():
    figures = load_published(load_table("fedpub-overlapping", CONFIGS).published, CONFIGS)
    assert figures.get("cora", "overlapping-30", "FED-PUB", "accuracy").mean == 75.70
    assert figures.get("cora", "overlapping-10", "FED-PUB", "accuracy") is None


def test_published_figures_by_hand():
    """Two cells read off the paper's Table 1."""
    figures = load_published(load_table("fedaux-table1", CONFIGS).published, CONFIGS)
    found = figures.get("cora", "metis-10", "FedAux", "accuracy")
    assert (found.mean, found.std) == (82.05, 0.71)
    found = figures.get("arxiv", "metis-20-s1", "FedAvg", "accuracy")
    assert (found.mean, found.std) == (63.24, 0.13)
    assert figures.get("cora", "metis-10", None, "accuracy") is None
    assert figures.get("cora", "louvain-10", "FedAux", "accuracy") is None


def test_published_figures_are_complete_and_unique():
    rows = list(csv.DictReader(PUBLISHED.open()))
    assert len(rows) == 334
    keys = Counter(tuple(row[name] for name in list(row)[:7]) for row in rows)
    assert max(keys.values()) == 1
    assert all(row["source"] for row in rows)
    names = set(load_names(CONFIGS).datasets.values())
    assert {row["dataset"] for row in rows if row["table"] == "Table 1"} <= names


def test_published_figures_of_recommendation_are_found_by_our_names():
    rows = list(csv.DictReader((CONFIGS / "published" / "fed-rec.csv").open()))
    assert max(Counter(tuple(row[name] for name in list(row)[:7]) for row in rows).values()) == 1
    assert all(row["source"] for row in rows)
    names = load_names(CONFIGS)
    assert {row["dataset"] for row in rows} <= {*names.datasets.values(), "Tmall-Buy"}  # no source of it is known
    assert {row["metric"] for row in rows} <= set(names.metrics.values())
    assert {row["partition"] for row in rows} <= set(names.partitions.values())
    table = load_table("lpsfed-imbalance", CONFIGS)
    found = load_published(table.published, CONFIGS)
    group = found.get("amazon-book-lpsfed", "dhillon-groups-15", "LPSFed", "ndcg@20, Small-Sparse")
    overall = found.get("amazon-book-lpsfed", "dhillon-groups-15", "LPSFed", "ndcg@20")
    assert (group and group.mean, overall and overall.mean) == (0.0146, 0.0206)
    assert found.get("amazon-cds-lpsfed", "dhillon-groups-15", "LPSFed", "ndcg@20") is None


def test_graph_figures_are_complete_and_unique():
    rows = list(csv.DictReader(GRAPHS.open()))
    assert len(rows) == 288
    keys = Counter(tuple(row[name] for name in list(row)[:7]) for row in rows)
    assert max(keys.values()) == 1
    assert all(row["source"] for row in rows)


def test_both_printed_values_of_fedsst_in_sm_cv():
    table = load_table("fedsst-main", CONFIGS)
    figures = load_published(table.published, CONFIGS)
    row = next(row for row in table.rows if row.method == "fedsst")
    for dataset, partition, means in (("sm-cv", "graphs-10", [82.17, 83.17]), ("sm", "graphs-7", [82.29])):
        found = figures.every(dataset, partition, row.published, "average")
        assert [figure.mean for figure in found] == means
    assert figures.get("sm-cv", "graphs-10", row.published, "deviation").mean == 10.81


REFERENCE = CONFIGS.parents[1] / "shared/papers/reference"


@pytest.mark.skipif(not REFERENCE.exists(), reason="no collected figures")
def test_graph_figures_are_unchanged():
    kept = ("paper", "table", "method", "metric", "mean", "std")
    ours, collected = ([*csv.DictReader(path.open())] for path in (GRAPHS, REFERENCE / "graph-fl.csv"))
    assert [[row[key] for key in kept] for row in ours] == [[row[key] for key in kept] for row in collected]
    assert all(theirs["setting"].startswith(row["dataset"]) for row, theirs in zip(ours, collected, strict=True))


@pytest.mark.skipif(not REFERENCE.exists(), reason="no collected figures")
def test_published_figures_are_unchanged():
    collected = csv.DictReader((REFERENCE / "subgraph-fl.csv").open())
    kept = ("dataset", "partition", "clients", "method", "metric", "mean", "std")
    ours = [tuple(row[name] for name in kept) for row in csv.DictReader(PUBLISHED.open())]
    assert ours == [tuple(row[name] for name in kept) for row in collected]
