"""Where a data set's nodes stood in the raw files: what differs by source, kept beside the data set. Light."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.files import read_arrays, write_arrays


@dataclass(frozen=True)
class Origin:
    """Origin of a data set of n nodes.

    Attributes:
        raw_position: int64[n], place of each node in the raw files.
        meta: dataset, source (its name), format (of the raw files, e.g. planetoid), files (name to sha256).
    """

    raw_position: np.ndarray
    meta: dict[str, Any]


def origin_path(dataset_path: Path) -> Path:
    """Return ``<dataset>.origin.npz`` for ``<dataset>.npz``."""
    return dataset_path.with_name(f"{dataset_path.stem}.origin.npz")


def write_origin(path: Path, origin: Origin) -> None:
    """Write an origin file."""
    write_arrays(path, {"raw_position": origin.raw_position}, origin.meta)


def read_origin(path: Path) -> Origin:
    """Read an origin file.

    Raises:
        DataError: it is missing or damaged.
    """
    arrays, meta = read_arrays(path)
    return Origin(arrays["raw_position"], meta)
