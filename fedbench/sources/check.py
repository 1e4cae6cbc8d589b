"""Check a raw file against the catalogue before anything opens it."""

from __future__ import annotations

from pathlib import Path

from fedbench.errors import SourceError
from fedbench.files import sha256_of
from fedbench.sources.kinds import RawFile


def fault(path: Path, file: RawFile) -> str:
    """Return what is wrong with ``path`` as a copy of ``file``, or an empty string."""
    if not path.is_file():
        return f"{file.name}: no such file"
    size = path.stat().st_size
    if size != file.bytes:
        return f"{file.name}: {size:,} bytes, expected {file.bytes:,}"
    found = sha256_of(path)
    return "" if found == file.sha256 else f"{file.name}: sha256 {found}, expected {file.sha256}"


def check(path: Path, file: RawFile) -> None:
    """Refuse a file whose size or sha256 is not the catalogue's.

    Raises:
        SourceError: says which file, what was found and what was expected.
    """
    if wrong := fault(path, file):
        raise SourceError(
            f"raw file {path}",
            found=wrong,
            allowed="exactly the file that the catalogue describes",
            remedy="delete it and run `fedbench fetch` again; if the source has changed, use another one",
        )
