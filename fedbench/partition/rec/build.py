"""Cut a user-item data set into clients as a scheme says, check the result, write it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets.rec.store import RecDataset
from fedbench.errors import DataError
from fedbench.partition.check import check_name
from fedbench.partition.name import PartitionName
from fedbench.partition.rec.check import check_group_sizes, check_rec_partition
from fedbench.partition.rec.clients import cut_dataset
from fedbench.partition.rec.kinds import CoScheme, Groups
from fedbench.partition.rec.measures import RecMeasures, measure_rec
from fedbench.partition.rec.store import RecPartition


def build_rec_partition(
    dataset_name: str, name: PartitionName, scheme: CoScheme, dataset_path: Path, out: Path
) -> RecPartition:
    """Write the partition file ``out`` of a data set file, and return the partition.

    Raises:
        DataError: the file holds another data set than ``dataset_name``, or the scheme can't make so many clients.
    """
    dataset = RecDataset.read(dataset_path)
    check_name(dataset_name, dataset, dataset_path)
    partition = partition_of(name, scheme, dataset)
    partition.write(out)
    return partition


def partition_of(name: PartitionName, scheme: CoScheme, dataset: RecDataset) -> RecPartition:
    """Return the partition of a data set under a scheme.

    Raises:
        DataError: the scheme can't make so many clients of it, or its groups don't add up to them.
    """
    if scheme.groups:
        check_group_sizes(str(name), scheme.groups.sizes, scheme.groups.names, name.clients)
    if name.clients > min(dataset.n_users, dataset.n_items):
        raise DataError(
            f"{name.clients:,} clients of {dataset.name}",
            found=f"{dataset.n_users:,} users and {dataset.n_items:,} items",
            allowed=f"1 to {min(dataset.n_users, dataset.n_items):,} clients, so that each has a user and an item",
            remedy="ask for fewer clients",
        )
    cut = cut_dataset(name, scheme, dataset)
    user = np.argsort(cut.user_client, kind="stable")
    meta = _meta(name, scheme, dataset)
    partition = RecPartition(cut.user_client[user], user, cut.item_client, cut.item, meta=meta)
    check_rec_partition(partition, dataset, disjoint=scheme.items == "disjoint")
    figures = _figures(measure_rec(partition, dataset), partition, scheme.groups)
    return replace(partition, meta=meta | figures)


def _meta(name: PartitionName, scheme: CoScheme, dataset: RecDataset) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "dataset_digest": dataset.digest,
        "task": "rec",
        "scheme": name.scheme,
        "clients": name.clients,
        "seed": name.seed,
        "settings": scheme.model_dump(mode="json"),
    }


def _figures(measures: RecMeasures, partition: RecPartition, groups: Groups | None) -> dict[str, Any]:
    """Return what the description says of the clients; ``*_outside`` are shares of all pairs of that split."""
    lists = {name: measures.columns()[name].tolist() for name in ("users", "items", "train", "density")}
    _, times = np.unique(partition.item, return_counts=True)
    return {
        **lists,
        "kept_edges": int(measures.train.sum()),
        "cut_edges": int(measures.train_outside.sum()),
        "shared_items": int((times > 1).sum()),
        "val_outside": _share(measures.val_outside, measures.val),
        "test_outside": _share(measures.test_outside, measures.test),
        "group": [] if groups is None else np.repeat(groups.names, groups.sizes).tolist(),
    }


def _share(outside: np.ndarray, inside: np.ndarray) -> float:
    return float(outside.sum() / max(outside.sum() + inside.sum(), 1))
