"""``source.json`` in a raw folder: which source filled it. Light."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fedbench.errors import SourceError
from fedbench.files import write_json
from fedbench.sources.kinds import Source

NOTE = "source.json"


def write_note(folder: Path, source: Source) -> None:
    """Write the source's name and kind, and each file's sha256."""
    files = {file.name: file.sha256 for file in source.files}
    write_json(folder / NOTE, {"source": source.name, "kind": source.kind, "files": files})


def read_note(folder: Path) -> dict[str, Any]:
    """Return what ``source.json`` in a raw folder says: ``source``, ``kind``, ``files`` (name to sha256).

    Raises:
        SourceError: there is none, or it is damaged.
    """
    try:
        return dict(json.loads((folder / NOTE).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise SourceError(f"read {folder / NOTE}", found=str(error), remedy="run `fedbench fetch` again") from error
