"""Text of a raw file: plain, gzipped, or a member of a tar or zip."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from pathlib import Path

from fedbench.errors import DataError


def read_text(folder: Path, name: str, archive: str = "") -> str:
    """Return the text of the file ``name``: in ``folder``, or a member of the archive there.

    Nothing is unpacked to disk. The caller has checked the sums.

    Raises:
        DataError: it is missing or damaged.
    """
    try:
        return _bytes(folder, name, archive).decode("utf-8")
    except (OSError, KeyError, EOFError, UnicodeDecodeError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise DataError(
            f"read {name} in {folder / archive}",
            found=f"{type(error).__name__}: {error}",
            allowed="a text file, plain or gzipped (.gz), or a member of a tar or zip",
            remedy="fetch the files again, or correct the loader in the catalogue",
        ) from error


def _bytes(folder: Path, name: str, archive: str) -> bytes:
    if not archive:
        content = (folder / name).read_bytes()
        return gzip.decompress(content) if name.endswith(".gz") else content
    path = folder / archive
    if archive.endswith(".zip"):
        with zipfile.ZipFile(path) as packed:
            return packed.read(name)
    with tarfile.open(path) as packed_tar:
        member = packed_tar.extractfile(name)
        if member is None:
            raise KeyError(f"{name} is no file")
        return member.read()
