"""Where a data set's nodes stood in the raw files: what differs by source, kept beside the data set. Light."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedbench.files import read_arrays, write_arrays

if TYPE_CHECKING:
    from fedbench.sources.kinds import Source


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


def origin_of(name: str, source: Source, raw_position: np.ndarray) -> Origin:
    """Return the origin of the data set ``name`` made from the files of ``source``."""
    form = source.loader.format if source.loader else ""
    files = {file.name: file.sha256 for file in source.files}
    return Origin(raw_position, {"dataset": name, "source": source.name, "format": form, "files": files})


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
