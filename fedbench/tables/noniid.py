"""Rows of a table of kind `noniid`: readings of how unlike the clients of a partition are; no records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedbench.configuration.table import TableFile
from fedbench.datasets.node import NodeDataset
from fedbench.partition.noniid import read_all
from fedbench.partition.store import Partition
from fedbench.stats.published import PublishedFigures
from fedbench.stats.summary import Summary
from fedbench.tables.csv_row import judged


@dataclass(frozen=True)
class _Column:
    """One data set and partition, and its figure by reading."""

    dataset: str
    name: str
    partition: Partition
    values: dict[str, float]

    def identity(self) -> dict[str, Any]:
        """Return the parts of a row that don't depend on the reading; ``records`` cites the partition file."""
        cited = f"partitions/{self.dataset}/{self.name}.npz@{self.partition.digest[:12]}"
        given = {"dataset": self.dataset, "partition": self.name, "clients": self.partition.clients}
        return {**given, "records": cited, "stale": ""}


def noniid_rows(table: TableFile, published: PublishedFigures, results: Path) -> Iterator[dict[str, Any]]:
    """Yield a row a reading, data set and partition; one partition has no spread and counts no seeds.

    Raises:
        DataError: a partition or data set file is missing or damaged.
    """
    columns = [column for dataset in table.datasets for column in _columns(table, dataset, results)]
    for row in table.printed_rows:
        for column in columns:
            theirs = published.every(column.dataset, column.name, row.published, table.metric.name)
            ours = Summary(table.metric.scale * column.values[row.method], float("nan"), 0)
            given = {"method": row.method, "variant": row.variant, "metric": table.metric.name}
            yield {**column.identity(), **given, **judged(ours, theirs, was_run=True, table=table)}


def _columns(table: TableFile, dataset: str, results: Path) -> Sequence[_Column]:
    names = table.partitions_in(dataset)
    partitions = [Partition.read(results / "partitions" / dataset / f"{name}.npz") for name in names]
    values = read_all(partitions, NodeDataset.read(results / "datasets" / f"{dataset}.npz"), table.readings)
    by_place = [{name: found[place] for name, found in values.items()} for place in range(len(partitions))]
    return [_Column(dataset, *column) for column in zip(names, partitions, by_place, strict=True)]
