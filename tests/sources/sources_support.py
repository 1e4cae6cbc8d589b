"""Two small files, their catalogue rows, and a look into a folder. Shared by the tests of this folder."""

import hashlib
from pathlib import Path

from fedbench.sources.kinds import RawFile

CONTENT = {"a.bin": bytes(range(256)) * 1200, "b.txt": b"two\n" * 50}
FILES = tuple(
    RawFile(name=name, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data)) for name, data in CONTENT.items()
)


def left_in(folder: Path) -> list[str]:
    """Return the names of everything in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []
