"""What each client of a partition has, by split, whatever the task: nodes, or pairs of users and items."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedbench.datasets.rec.store import RecDataset
from fedbench.figures._scene import Scene
from fedbench.files import read_arrays
from fedbench.partition.rec.store import RecPartition
from fedbench.partition.rec.view import cut_from

LEFT_OUT = 3


class Members(NamedTuple):
    """Client int64[m] and split int8[m] of each member (0 train, 1 val, 2 test, 3 unused), and what members are."""

    client: np.ndarray
    split: np.ndarray
    what: str


def members_of(scene: Scene, dataset: str, partition: str) -> Members:
    """Return the members of a partition of any task that has splits in its files.

    Raises:
        DataError: the partition or data set file is missing or damaged.
    """
    path = scene.results / "partitions" / dataset / f"{partition}.npz"
    arrays, meta = read_arrays(path)
    read = TASKS.get(meta.get("task", "node"))
    return read(path, scene.results / "datasets" / f"{dataset}.npz") if read else _entries(arrays)


def _entries(arrays: dict[str, np.ndarray]) -> Members:
    return Members(arrays["client"], arrays["split"], "graphs" if "graph" in arrays else "nodes")


def _pairs(partition_file: Path, dataset_file: Path) -> Members:
    """Return all pairs by their user's client; those with items that the client hasn't are unused."""
    dataset, cut = RecDataset.read(dataset_file), cut_from(RecPartition.read(partition_file))
    inside = cut.keeps(dataset.users, dataset.items)
    split = np.where(inside, dataset.split, LEFT_OUT)
    return Members(cut.user_client[dataset.users], split, "pairs")


TASKS: dict[str, Callable[[Path, Path], Members]] = {"rec": _pairs}
