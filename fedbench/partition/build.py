"""Cut a data set into clients as a scheme says: each task has its own cut, checks and file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fedbench.partition.build_nodes import build_node_partition
from fedbench.partition.graphs.build import build_graph_partition
from fedbench.partition.graphs.store import GraphPartition
from fedbench.partition.name import PartitionName
from fedbench.partition.rec.build import build_rec_partition
from fedbench.partition.rec.store import RecPartition
from fedbench.partition.scheme import Scheme
from fedbench.partition.store import Partition
from fedbench.partition.task import check_task

AnyPartition = Partition | GraphPartition | RecPartition
BUILDERS: dict[str, Callable[[str, PartitionName, Any, Path, Path], AnyPartition]] = {
    "node": build_node_partition,
    "graph": build_graph_partition,
    "rec": build_rec_partition,
}


def build_partition(
    dataset_name: str, name: PartitionName, scheme: Scheme, dataset_path: Path, out: Path
) -> AnyPartition:
    """Write the partition file ``out`` of a data set file, and return the partition.

    Raises:
        DataError: the file holds another data set than ``dataset_name`` or one of another task, the scheme can't make
            so many clients of it, or a table doesn't fit the data set.
        SourceError: a published table can't be had.
    """
    check_task(name, scheme, dataset_path)
    return BUILDERS[scheme.task](dataset_name, name, scheme, dataset_path, out)
