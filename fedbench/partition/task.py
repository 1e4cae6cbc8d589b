"""Which task a data set file is of. Light."""

from __future__ import annotations

from pathlib import Path

from fedbench.errors import DataError
from fedbench.files import read_arrays
from fedbench.partition.name import PartitionName
from fedbench.partition.scheme import Scheme


def task_of(dataset_path: Path) -> str:
    """Return the task that a data set file says it is of.

    Raises:
        DataError: it is missing or damaged.
    """
    return str(read_arrays(dataset_path)[1].get("task"))


def check_task(name: PartitionName, scheme: Scheme, dataset_path: Path) -> None:
    """Refuse a scheme of another task than the data set file's.

    Raises:
        DataError: names both.
    """
    task = task_of(dataset_path)
    if task != scheme.task:
        raise DataError(
            f"the partition {name} of {dataset_path}",
            found=f"a scheme of the task {scheme.task}, and a data set of the task {task}",
            allowed="a scheme of the data set's task",
            remedy="name another scheme of configs/partitions",
        )
