"""Downloads kept by their sha256, made once even when several jobs want them at the same time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from fedbench.sources.check import check, fault
from fedbench.sources.kinds import RawFile


def cache_folder() -> Path:
    """Return ``$XDG_CACHE_HOME/fedbench`` (default ``~/.cache/fedbench``)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fedbench"


def cached(file: RawFile) -> Path:
    """Return where the cache keeps ``file``, whether it is there or not."""
    return cache_folder() / "files" / file.sha256


def keep(file: RawFile, make: Callable[[Path], None]) -> Path:
    """Return the cached copy of ``file``; without one, let ``make`` fill a partial file, check it and keep it.

    ``make`` may find the partial file of an interrupted attempt and continue it; a complete one that fails its
    check is removed. Other processes that want the same file wait for this one.

    Raises:
        SourceError: `make` failed, or what it left is not the file that the catalogue describes.
    """
    path = cached(file)
    partial = path.with_suffix(".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        if fault(path, file):
            make(partial)
            _accept(partial, file, path)
    return path


def _accept(partial: Path, file: RawFile, path: Path) -> None:
    try:
        check(partial, file)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
