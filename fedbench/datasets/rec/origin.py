"""Ids of users and items in the raw files: what may differ by source, kept beside the data set. Light."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedbench.files import read_arrays, write_arrays

if TYPE_CHECKING:
    from fedbench.datasets.rec.raw import Numbered
    from fedbench.sources.kinds import Source


@dataclass(frozen=True)
class RecOrigin:
    """Origin of a data set of U users and I items.

    Attributes:
        user_id: int64[U], id of each user in the raw files.
        item_id: int64[I], id of each item.
        meta: dataset, source (its name), format (of the raw files), files (name to sha256).
    """

    user_id: np.ndarray
    item_id: np.ndarray
    meta: dict[str, Any]


def rec_origin_of(name: str, source: Source, pairs: Numbered) -> RecOrigin:
    """Return the origin of the data set ``name`` made from the files of ``source``."""
    form = source.loader.format if source.loader else ""
    files = {file.name: file.sha256 for file in source.files}
    meta = {"dataset": name, "source": source.name, "format": form, "files": files}
    return RecOrigin(pairs.user_id, pairs.item_id, meta)


def write_rec_origin(path: Path, origin: RecOrigin) -> None:
    """Write an origin file."""
    write_arrays(path, {"user_id": origin.user_id, "item_id": origin.item_id}, origin.meta)


def read_rec_origin(path: Path) -> RecOrigin:
    """Read an origin file.

    Raises:
        DataError: it is missing or damaged.
    """
    arrays, meta = read_arrays(path)
    return RecOrigin(arrays["user_id"], arrays["item_id"], meta)
