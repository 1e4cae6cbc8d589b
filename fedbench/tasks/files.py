"""That a partition file belongs to a data set file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedbench.errors import DataError
from fedbench.files import sha256_of


def require_same_dataset(cut: Mapping[str, Any], partition_file: Path, dataset_file: Path, task: str) -> None:
    """Refuse a partition for another task, or made from another data set file (also from one of the same name).

    Args:
        cut: the partition's description; one of nodes names no task.
        partition_file: where it lies, for the message.
        dataset_file: what it is to be used with.
        task: ``node``, ``graph`` or ``rec``.

    Raises:
        DataError: says what it was made from.
    """
    digest, made_from = sha256_of(dataset_file), cut.get("dataset_digest", "unknown")
    told = cut.get("task", "node")
    if (told, made_from) != (task, digest):
        raise DataError(
            f"use the partition {partition_file}",
            found=f"one of '{cut['dataset']}' for the task '{told}', of a file with sha256 {made_from}",
            allowed=f"one for the task '{task}' of {dataset_file}, sha256 {digest}",
            remedy="run `fedbench partition` again on this data set file",
        )
