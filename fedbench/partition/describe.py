"""What a partition is like, client by client: a table, a page and warnings, each task's own measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.node import NodeDataset
from fedbench.datasets.rec.store import RecDataset
from fedbench.partition.check import check_same_dataset
from fedbench.partition.graphs.measures import graph_warnings, measure_graphs
from fedbench.partition.graphs.report import graph_csv_text, graph_markdown_text
from fedbench.partition.graphs.store import GraphPartition
from fedbench.partition.measures import measure, warnings
from fedbench.partition.rec.measures import measure_rec, rec_warnings
from fedbench.partition.rec.report import rec_csv_text, rec_markdown_text
from fedbench.partition.rec.store import RecPartition
from fedbench.partition.report import csv_text, markdown_text
from fedbench.partition.store import Partition
from fedbench.partition.task import task_of


@dataclass(frozen=True)
class Description:
    """A partition's table (tidy CSV), page (Markdown) and warnings (a sentence each), and its data set's name."""

    dataset: str
    csv: str
    markdown: str
    warnings: list[str]


def describe(partition_path: Path, dataset_path: Path) -> Description:
    """Return what a partition file is like; its name is the file's.

    Raises:
        DataError: a file can't be read, or the partition was made from another data set file.
    """
    return DESCRIBERS[task_of(dataset_path)](partition_path, dataset_path)


def _nodes(partition_path: Path, dataset_path: Path) -> Description:
    partition, dataset, name = Partition.read(partition_path), NodeDataset.read(dataset_path), partition_path.stem
    check_same_dataset(partition, dataset)
    found = measure(partition, dataset)
    page = markdown_text(name, partition, dataset, found)
    return Description(dataset.name, csv_text(name, partition, found), page, warnings(found))


def _graphs(partition_path: Path, dataset_path: Path) -> Description:
    partition, dataset = GraphPartition.read(partition_path), GraphDataset.read(dataset_path)
    check_same_dataset(partition, dataset)
    found, name = measure_graphs(partition, dataset), partition_path.stem
    page = graph_markdown_text(name, partition, found)
    return Description(dataset.name, graph_csv_text(name, partition, found), page, graph_warnings(found))


def _pairs(partition_path: Path, dataset_path: Path) -> Description:
    partition, dataset = RecPartition.read(partition_path), RecDataset.read(dataset_path)
    check_same_dataset(partition, dataset)
    found, name = measure_rec(partition, dataset), partition_path.stem
    page = rec_markdown_text(name, partition, found)
    return Description(dataset.name, rec_csv_text(name, partition, found), page, rec_warnings(found))


DESCRIBERS: dict[str, Callable[[Path, Path], Description]] = {"node": _nodes, "graph": _graphs, "rec": _pairs}
