"""Fetch raw files: ask the sources in order, check, copy, and note which one answered."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fedbench.errors import SourceError
from fedbench.files import whole_file
from fedbench.sources import http, http_archive, mirror, wheel
from fedbench.sources.check import check
from fedbench.sources.kinds import HttpSource, MirrorSource, RawFile, Source
from fedbench.sources.note import write_note


@dataclass(frozen=True)
class Fetched:
    """The source that answered, and why those before it didn't."""

    source: Source
    passed_over: tuple[str, ...]


def fetch(title: str, sources: Sequence[Source], out: Path) -> Fetched:
    """Copy the raw files, unchanged, from the first source that has them into ``out``.

    Every file's sha256 is checked before it is opened or copied. ``source.json`` is written last.

    Args:
        title: what the files are, for messages.
        sources: tried in this order.
        out: folder, made if absent. A file in it is whole and right, or not there.

    Raises:
        SourceError: no source has them (lists each one's reason), or ``out`` can't be written.
    """
    tried: list[str] = []
    for source in sources:
        try:
            paths = obtain(source)
        except (SourceError, OSError) as error:
            tried.append(f"{source.name} ({source.kind}, {source.at}): {getattr(error, 'found', '') or error}")
            continue
        _deliver(source, paths, out)
        return Fetched(source, tuple(tried))
    raise _nothing(title, tried)


def obtain(source: Source) -> dict[str, Path]:
    """Return where each file of ``source`` lies on this machine, fetched if need be, and checked.

    Raises:
        SourceError: the source doesn't have them.
    """
    if isinstance(source, MirrorSource):
        return mirror.obtain(source)
    if isinstance(source, HttpSource):
        return http_archive.obtain(source, source.archive) if source.archive else http.obtain(source)
    return wheel.obtain(source)


def _deliver(source: Source, paths: dict[str, Path], out: Path) -> None:
    try:
        for file in source.files:
            _copy(paths[file.name], file, out / file.name)
        write_note(out, source)
    except OSError as error:
        raise SourceError(
            f"write the raw files to {out}",
            found=str(error),
            remedy="free space, or choose a folder you may write to, and run the command again",
        ) from error


def _copy(path: Path, file: RawFile, target: Path) -> None:
    with whole_file(target) as temporary:
        shutil.copyfile(path, temporary)
        check(temporary, file)


def _nothing(title: str, tried: list[str]) -> SourceError:
    return SourceError(
        f"the raw files of {title}",
        found="no source has them\n" + "\n".join(f"         - {reason}" for reason in tried),
        allowed="one of these sources, with the sums that the catalogue lists",
        remedy=f"connect to the network, or set {mirror.VARIABLE} to a folder that holds the files",
    )
