"""Files that are either whole or absent, and arrays without pickle."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.errors import DataError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside ``path``; rename it to ``path`` on success, remove it on failure.

    A crash, a full disk or a kill leaves either the old file or none, never half a file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` (UTF-8) as a whole file."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, values: Any) -> None:
    """Write ``values`` as sorted, indented JSON; NaN is refused because JSON has none."""
    write_text(path, json.dumps(values, indent=1, sort_keys=True, allow_nan=False) + "\n")


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write named arrays and a JSON description as one npz; the same content gives the same bytes everywhere.

    Members are stored uncompressed under fixed zip headers: those of ``np.savez`` differ between Python releases, and
    what a compressor makes between versions of zlib.
    """
    content = {"meta": np.array(json.dumps(meta, sort_keys=True, allow_nan=False)), **arrays}
    with whole_file(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for name, array in content.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = 3, 0o644 << 16
            archive.writestr(member, _npy_bytes(array))


def _npy_bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `write_arrays` wrote, never unpickling.

    Raises:
        DataError: the file is missing, truncated, or not such a file.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        meta = json.loads(str(arrays.pop("meta")))
    except Exception as error:
        raise DataError(
            f"read arrays from {path}",
            found=f"{type(error).__name__}: {error}",
            allowed="an npz file written by fedbench",
            remedy="delete the file and run the command that makes it again",
        ) from error
    return arrays, meta
