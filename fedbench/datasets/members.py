"""Named arrays of somebody else's npz, never unpickling."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fedbench.errors import DataError


def read_members(path: Path, names: tuple[str, ...]) -> list[np.ndarray]:
    """Return the arrays ``names``, in that order; other members stay unopened, so they may hold anything.

    Raises:
        DataError: one is missing, damaged, or holds Python objects.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            return [archive[name] for name in names]
    except Exception as error:
        raise DataError(
            f"read {', '.join(names)} from {path}",
            found=f"{type(error).__name__}: {error}",
            allowed="an npz file with these arrays, none of Python objects",
            remedy="fetch the file again, or correct the loader in the catalogue",
        ) from error
