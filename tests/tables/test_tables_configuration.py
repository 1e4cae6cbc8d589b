"""The committed table specifications and published figures."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from fedbench.configuration.table import load_table
from fedbench.tables.published import load_names, load_published

CONFIGS = Path(__file__).parents[2] / "configs"
TABLES = sorted(path.stem for path in (CONFIGS / "tables").glob("*.yaml"))
PUBLISHED = CONFIGS / "published" / "subgraph-fl.csv"


@pytest.mark.parametrize("name", TABLES)
def test_every_published_name_has_its_figures(name):
    table = load_table(name, CONFIGS)
    figures = load_published(table.published, CONFIGS)
    for row in (row for row in table.rows if row.published):
        for dataset in table.datasets:
            for partition in table.partitions:
                assert figures.get(dataset, partition, row.published, table.metric.name), (row, dataset, partition)


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
    assert {row["dataset"] for row in rows if row["table"] == "Table 1"} == names


@pytest.mark.skipif(
    not (Path(__file__).parents[3] / "shared/papers/reference/subgraph-fl.csv").exists(), reason="no collected figures"
)
def test_published_figures_are_unchanged():
    collected = csv.DictReader((CONFIGS.parents[1] / "shared/papers/reference/subgraph-fl.csv").open())
    kept = ("dataset", "partition", "clients", "method", "metric", "mean", "std")
    ours = [tuple(row[name] for name in kept) for row in csv.DictReader(PUBLISHED.open())]
    assert ours == [tuple(row[name] for name in kept) for row in collected]
