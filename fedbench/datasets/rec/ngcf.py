"""NGCF's files (Wang et al. 2019), also used by LightGCN: one user a line, then the user's items."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fedbench.datasets.rec.raw import RawPairs, raw_pairs
from fedbench.datasets.rec.text import read_text
from fedbench.errors import DataError
from fedbench.sources.formats import NgcfFiles


def load(folder: Path, loader: NgcfFiles) -> RawPairs:
    """Return the pairs of the train file and the test file, line by line; a user without items gives none.

    Raises:
        DataError: a file is missing, damaged or holds anything but whole numbers, or the two share a pair.
    """
    train, test = (_pairs(read_text(folder, name, loader.archive), name) for name in (loader.train, loader.test))
    return raw_pairs(train, test, has_test=True)


def _pairs(text: str, name: str) -> np.ndarray:
    """Return int64[m, 2]."""
    lines = [line for line in map(str.split, text.splitlines()) if line]
    try:
        number = np.array([word for line in lines for word in line], dtype=np.int64)
    except ValueError as error:
        raise DataError(
            f"the pairs of {name}",
            found=str(error),
            allowed="lines of whole numbers: a user, then the user's items",
            remedy="fetch the file again, or correct the loader in the catalogue",
        ) from error
    length = np.array([len(line) for line in lines], dtype=np.int64)
    head = np.cumsum(length) - length
    is_item = np.ones(number.size, dtype=bool)
    is_item[head] = False
    return np.stack([np.repeat(number[head], length - 1), number[is_item]], axis=1)
