"""Raw files from a local mirror folder."""

from __future__ import annotations

import os
from pathlib import Path

from fedbench.errors import SourceError
from fedbench.sources.check import check
from fedbench.sources.kinds import MirrorSource

VARIABLE = "FEDBENCH_MIRROR"


def mirror_folder() -> Path | None:
    """Return the folder that the environment variable FEDBENCH_MIRROR names, or None."""
    value = os.environ.get(VARIABLE)
    return Path(value) if value else None


def obtain(source: MirrorSource) -> dict[str, Path]:
    """Return the path of each of the source's files, checked.

    Raises:
        SourceError: there is no mirror, or a file is missing or different.
    """
    mirror = mirror_folder()
    if mirror is None:
        raise SourceError("the local mirror", found=f"{VARIABLE} is not set", remedy=f"set {VARIABLE} to the folder")
    paths = {file.name: mirror / source.at / file.name for file in source.files}
    for file in source.files:
        check(paths[file.name], file)
    return paths
