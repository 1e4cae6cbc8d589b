"""Raw files in a zip file at a web address."""

from __future__ import annotations

import hashlib
from functools import partial as bound
from pathlib import Path

from filelock import FileLock

from fedbench.errors import SourceError
from fedbench.sources.archive import unpacked
from fedbench.sources.cache import cache_folder, cached, keep
from fedbench.sources.check import fault
from fedbench.sources.http import download
from fedbench.sources.kinds import Archive, HttpSource, RawFile


def obtain(source: HttpSource, archive: Archive) -> dict[str, Path]:
    """Return the path of each of the source's files in the cache, out of ``archive``, checked.

    An archive whose sum is known is checked before it is opened, and kept. One whose sum isn't known is opened only to
    take out the files of the catalogue, each of which is checked before anything reads it, and is then thrown away.

    Raises:
        SourceError: the archive can't be had, or it or a file in it is not what the catalogue says.
    """
    url = f"{source.at}/{archive.name}"
    if archive.sha256:
        file = RawFile(name=archive.name, sha256=archive.sha256, bytes=archive.bytes)
        return unpacked(keep(file, bound(download, url, file)), archive.folder, source.files)
    return _from_unknown(url, archive, source.files)


def _from_unknown(url: str, archive: Archive, files: tuple[RawFile, ...]) -> dict[str, Path]:
    path = cache_folder() / "archives" / f"{hashlib.sha256(url.encode()).hexdigest()}.part"
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        if not any(fault(cached(file), file) for file in files):
            return {file.name: cached(file) for file in files}
        try:
            download(url, archive, path)
            _small_enough(url, archive, path)
            return unpacked(path, archive.folder, files)
        finally:
            path.unlink(missing_ok=True)


def _small_enough(url: str, archive: Archive, path: Path) -> None:
    if path.stat().st_size > archive.bytes:
        raise SourceError(
            f"download {url}",
            found=f"{archive.name}: more than {archive.bytes:,} bytes",
            allowed="at most what the catalogue says",
            remedy="correct the catalogue if the source has changed; otherwise use another one",
        )
