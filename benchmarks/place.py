"""Where a benchmark reads and writes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Place:
    """Folders of a benchmark run: ``scratch`` is kept between runs, ``figures`` takes plots."""

    scratch: Path
    figures: Path

    def folder(self, name: str) -> Path:
        """Return a folder below scratch, made if absent."""
        path = self.scratch / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    @property
    def peer_python(self) -> Path:
        """The Python of the peer's environment (`benchmarks/peer/install.sh`)."""
        return ROOT / os.environ.get("FEDBENCH_PEER_ENV", ".bench-env") / "bin" / "python"
