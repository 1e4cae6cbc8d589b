"""Cut a data set of the task `node` into clients as a scheme says, check the result, write it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets.node import NodeDataset
from fedbench.datasets.origin import origin_path, read_origin
from fedbench.errors import DataError
from fedbench.partition.check import check_name, check_partition, check_size
from fedbench.partition.clients import by_client, memberships, splits
from fedbench.partition.cut import kept_edges
from fedbench.partition.kinds import FileScheme, NodeScheme, OverlappingScheme
from fedbench.partition.name import PartitionName
from fedbench.partition.store import Partition
from fedbench.partition.table import import_table


def build_node_partition(
    dataset_name: str, name: PartitionName, scheme: NodeScheme, dataset_path: Path, out: Path
) -> Partition:
    """Write the partition file ``out`` of a data set file, and return the partition.

    Raises:
        DataError: the file holds another data set than ``dataset_name``, the scheme can't make so many clients of it,
            or a table doesn't fit the data set.
        SourceError: a published table can't be had.
    """
    dataset = NodeDataset.read(dataset_path)
    check_name(dataset_name, dataset, dataset_path)
    check_size(name.clients, dataset.nodes, dataset.name)
    if isinstance(scheme, FileScheme):
        of_each, split_of_each = import_table(scheme, name, read_origin(origin_path(dataset_path)))
        client, node = by_client(of_each)
        split = split_of_each[node]
    else:
        client, node = memberships(name, scheme, dataset)
        split = splits(name, scheme, dataset, client, node)
    partition = Partition(client, node, split, meta=_meta(name, scheme, dataset))
    check_partition(partition, dataset.nodes, disjoint=not isinstance(scheme, OverlappingScheme))
    partition = _with_edges(partition, dataset)
    if isinstance(scheme, FileScheme):
        _check_expected(scheme, partition, dataset)
    partition.write(out)
    return partition


def _meta(name: PartitionName, scheme: NodeScheme, dataset: NodeDataset) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "dataset_digest": dataset.digest,
        "scheme": name.scheme,
        "clients": name.clients,
        "seed": name.seed,
        "settings": scheme.model_dump(mode="json"),
    }


def _with_edges(partition: Partition, dataset: NodeDataset) -> Partition:
    """Return the partition with kept and cut edges (undirected) in its description."""
    kept = kept_edges(partition, dataset.edges, dataset.nodes)
    edges = {"kept_edges": kept, "cut_edges": dataset.edges.shape[1] // 2 - kept}
    return replace(partition, meta=partition.meta | edges)


def _check_expected(scheme: FileScheme, partition: Partition, dataset: NodeDataset) -> None:
    sizes = tuple(np.bincount(partition.client, minlength=partition.clients).tolist())
    kept = partition.meta["kept_edges"]
    if (sizes, kept) != (scheme.expected.sizes, scheme.expected.kept_edges):
        raise DataError(
            f"the published partition '{scheme.title}'",
            found=f"client sizes {sizes}, {kept:,} edges kept",
            allowed=f"client sizes {scheme.expected.sizes}, {scheme.expected.kept_edges:,} edges kept",
            remedy="the raw files or the table are not those of the publication; fetch them again",
        )
