"""Deal a data set's graphs, or a group's, to clients and split them, check the result, write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.graph_group import member_of_each, members_of
from fedbench.partition.check import check_name
from fedbench.partition.graphs.check import check_graph_clients, check_graph_partition
from fedbench.partition.graphs.deal import dealt
from fedbench.partition.graphs.kinds import GraphScheme
from fedbench.partition.graphs.split import stratified
from fedbench.partition.graphs.store import SPLIT_NAMES, GraphPartition
from fedbench.partition.name import PartitionName


def build_graph_partition(
    dataset_name: str, name: PartitionName, scheme: GraphScheme, dataset_path: Path, out: Path
) -> GraphPartition:
    """Write the partition file ``out`` of a data set file, and return the partition.

    Raises:
        DataError: the file holds another data set than ``dataset_name``, the scheme can't make so many clients, or a
            client has too few graphs of a class for a stratified split.
    """
    dataset = GraphDataset.read(dataset_path)
    check_name(dataset_name, dataset, dataset_path)
    partition = graph_partition_of(name, scheme, dataset)
    partition.write(out)
    return partition


def graph_partition_of(name: PartitionName, scheme: GraphScheme, dataset: GraphDataset) -> GraphPartition:
    """Return the partition of a data set under a scheme: member by member, ``clients / members`` clients each.

    Raises:
        DataError: as `build_graph_partition`.
    """
    members = members_of(dataset)
    sizes, names = [each["graphs"] for each in members], [each["dataset"] for each in members]
    check_graph_clients(name, sizes, dataset.name)
    each = name.clients // len(members)
    of_member = [dealt(size, each, scheme, name, member) for size, member in zip(sizes, names, strict=True)]
    client_of = np.concatenate([client + number * each for number, client in enumerate(of_member)])
    graph = np.argsort(client_of, kind="stable")
    split = [
        stratified(
            dataset.y[client_of == client], scheme.split, name.seed, f"client {client} ({names[client // each]})"
        )
        for client in range(name.clients)
    ]
    partition = GraphPartition(client_of[graph], graph, np.concatenate(split), meta=_meta(name, scheme, dataset))
    check_graph_partition(partition, member_of_each(dataset))
    return _with_clients(partition, [member for member in members for _ in range(each)])


def _meta(name: PartitionName, scheme: GraphScheme, dataset: GraphDataset) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "dataset_digest": dataset.digest,
        "task": "graph",
        "scheme": name.scheme,
        "clients": name.clients,
        "seed": name.seed,
        "settings": scheme.model_dump(mode="json"),
    }


def _with_clients(partition: GraphPartition, members: list[dict[str, Any]]) -> GraphPartition:
    """Return the partition with what each client is, of the member ``members[client]``, in its description."""
    counts = {
        split: np.bincount(partition.client[partition.split == number], minlength=partition.clients).tolist()
        for number, split in enumerate(SPLIT_NAMES)
    }
    of_member = {
        key: [member[field] for member in members]
        for key, field in (("member", "dataset"), ("features", "features"), ("classes", "classes"))
    }
    meta = {**partition.meta, **of_member, **counts}
    return GraphPartition(partition.client, partition.graph, partition.split, meta=meta)
