"""Raw files from a local mirror folder."""

from __future__ import annotations

import os
from pathlib import Path

from fedbench.errors import SourceError
from fedbench.sources.archive import unpacked
from fedbench.sources.check import check
from fedbench.sources.kinds import Archive, MirrorSource, RawFile

VARIABLE = "FEDBENCH_MIRROR"


def mirror_folder() -> Path | None:
    """Return the folder that the environment variable FEDBENCH_MIRROR names, or None."""
    value = os.environ.get(VARIABLE)
    return Path(value) if value else None


def obtain(source: MirrorSource) -> dict[str, Path]:
    """Return the path of each of the source's files, checked; those of an archive are unpacked into the cache.

    Raises:
        SourceError: there is no mirror, or a file is missing or different.
    """
    mirror = mirror_folder()
    if mirror is None:
        raise SourceError("the local mirror", found=f"{VARIABLE} is not set", remedy=f"set {VARIABLE} to the folder")
    folder = mirror / source.at
    if source.archive:
        return unpacked(_checked(folder, source.archive), source.archive.folder, source.files)
    paths = {file.name: folder / file.name for file in source.files}
    for file in source.files:
        check(paths[file.name], file)
    return paths


def _checked(folder: Path, archive: Archive) -> Path:
    """Return the archive's path; it is there, and right if its sum is known."""
    path = folder / archive.name
    if archive.sha256:
        check(path, RawFile(name=archive.name, sha256=archive.sha256, bytes=archive.bytes))
    elif not path.is_file():
        raise SourceError(f"raw file {path}", found=f"{archive.name}: no such file", remedy="use another source")
    return path
