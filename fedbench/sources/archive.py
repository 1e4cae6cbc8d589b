"""Files out of a zip file, each checked against the catalogue before anything reads it."""

from __future__ import annotations

import posixpath
import shutil
import zipfile
import zlib
from collections.abc import Sequence
from functools import partial as bound
from pathlib import Path

from fedbench.errors import SourceError
from fedbench.sources.cache import keep
from fedbench.sources.kinds import RawFile


def unpacked(archive: Path, folder: str, files: Sequence[RawFile]) -> dict[str, Path]:
    """Return the path in the cache of each of ``files``, which lie in ``folder`` of a zip file.

    Raises:
        SourceError: the archive is damaged, lacks a file, or a file in it is not what the catalogue says.
    """
    return {file.name: keep(file, bound(_extract, archive, f"{folder}/{file.name}", file)) for file in files}


def _extract(archive: Path, member: str, file: RawFile, target: Path) -> None:
    """Fill ``target`` with a member of exactly the expected size, so that no archive can fill the disk."""
    try:
        with zipfile.ZipFile(archive) as packed:
            info = _member(packed, member)
            if info.file_size != file.bytes:
                raise _failure(archive, member, f"{file.name}: {info.file_size:,} bytes, expected {file.bytes:,}")
            with packed.open(info) as stream, target.open("wb") as out:
                shutil.copyfileobj(stream, out)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise _failure(archive, member, str(error)) from error


def _member(packed: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return a member by its normal path: TUDataset's archives have two slashes in their names."""
    members = {posixpath.normpath(info.filename): info for info in packed.infolist()}
    if name not in members:
        raise KeyError(f"There is no item named '{name}' in the archive")
    return members[name]


def _failure(archive: Path, member: str, found: str) -> SourceError:
    return SourceError(f"{member} in {archive}", found=found, remedy="correct the catalogue, or use another source")
