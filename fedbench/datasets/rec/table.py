"""Tables with one pair a line: MovieLens, LastFM, RecBole's atomic files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from fedbench.datasets.rec.raw import RawPairs, raw_pairs
from fedbench.datasets.rec.text import read_text
from fedbench.errors import DataError
from fedbench.sources.formats import TableFiles


def load(folder: Path, loader: TableFiles) -> RawPairs:
    """Return the pairs of the train files, then of the test files. Ratings, counts and times are not read: any rating
    is an interaction (He et al., NCF, 2017).

    Raises:
        DataError: a file is missing or damaged, has too few columns, or an id is no whole number.
    """
    train, test = (_stacked(folder, names, loader) for names in (loader.train, loader.test))
    return raw_pairs(train, test, has_test=bool(loader.test))


def _stacked(folder: Path, names: tuple[str, ...], loader: TableFiles) -> np.ndarray:
    empty = np.zeros((0, 2), dtype=np.int64)
    return np.concatenate([empty, *(_pairs(read_text(folder, name, loader.archive), name, loader) for name in names)])


def _pairs(text: str, name: str, loader: TableFiles) -> np.ndarray:
    """Return int64[m, 2], user and item of each line."""
    import pandas as pd  # here, so that naming the loader stays light

    separator = loader.separator
    if len(separator) > 1:  # pandas reads longer separators some ten times more slowly
        text, separator = text.replace(separator, "\t"), "\t"
    columns = [loader.user, loader.item]
    options = {"sep": separator, "header": None, "skiprows": loader.header, "usecols": columns, "dtype": np.int64}
    try:
        table = pd.read_csv(io.StringIO(text), **options)  # type: ignore[call-overload]
    except (ValueError, pd.errors.ParserError) as error:
        raise DataError(
            f"the pairs of {name}",
            found=str(error),
            allowed=f"whole numbers in columns {loader.user} and {loader.item}, separated by {loader.separator!r}",
            remedy="fetch the file again, or correct the loader in the catalogue",
        ) from error
    return np.asarray(table[columns].to_numpy(dtype=np.int64))
