"""Finished seeds of a job, and checkpoints of those under way, kept where a killed job finds them again."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fedbench.engine.checkpoint import Checkpoints
from fedbench.files import whole_file, write_json
from fedbench.records.schema import Digests, SeedCost
from fedbench.settings import digest_of


@dataclass(frozen=True)
class SeedResult:
    """One seed's table (`fedbench.records.schema`), cost and diagnostics."""

    table: pa.Table
    cost: SeedCost
    diagnostics: dict[str, Any]


@dataclass
class FinishedSeeds:
    """Results by seed, in memory and, if a folder is given, on disk below a name made of everything they depend on.

    Args:
        folder: where to keep them, or None for memory only.
        digests: of settings, data, partition and code; another digest is another result.
        device: ``cpu`` or ``cuda``; sums are ordered differently there.
    """

    folder: Path | None
    digests: Digests
    device: str
    _results: dict[int, SeedResult] = field(default_factory=dict)

    def has(self, seed: int) -> bool:
        """Tell whether a seed is finished, reading it from disk if it is there."""
        path = self._path(seed)
        if seed not in self._results and path is not None and path.with_suffix(".json").exists():
            self._results[seed] = _read(path)
        return seed in self._results

    def get(self, seed: int) -> SeedResult:
        """Return a finished seed's result."""
        return self._results[seed]

    def add(self, seed: int, table: pa.Table, cost: SeedCost, diagnostics: dict[str, Any]) -> None:
        """Keep a finished seed; the JSON file, written last, marks it whole."""
        self._results[seed] = SeedResult(table, cost, diagnostics)
        path = self._path(seed)
        if path is not None:
            with whole_file(path) as temporary:
                pq.write_table(table, temporary)
            write_json(path.with_suffix(".json"), {"cost": cost.model_dump(), "diagnostics": diagnostics})

    def checkpoints(self, seeds: tuple[int, ...]) -> Checkpoints | None:
        """Return where a run of some seeds leaves its state; None without a folder."""
        home = self._home()
        return Checkpoints(home / f"seeds-{'-'.join(map(str, seeds))}.checkpoint.npz") if home else None

    def forget(self, seeds: tuple[int, ...]) -> None:
        """Remove what a job left on disk: its record has been written. Another job's seeds of the same run stay."""
        for seed in seeds:
            self._forget(seed)
        for computed in (seeds, *((seed,) for seed in seeds)):
            if checkpoints := self.checkpoints(computed):
                checkpoints.forget()
        if folder := self._home():
            with suppress(OSError):  # another job's are in it
                folder.rmdir()

    def _forget(self, seed: int) -> None:
        if path := self._path(seed):
            path.with_suffix(".json").unlink(missing_ok=True)
            path.unlink(missing_ok=True)

    def _path(self, seed: int) -> Path | None:
        folder = self._home()
        return folder / f"seed-{seed}.parquet" if folder else None

    def _home(self) -> Path | None:
        key = digest_of({"digests": self.digests.model_dump(), "device": self.device})
        return self.folder / key if self.folder else None


def _read(path: Path) -> SeedResult:
    side = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return SeedResult(pq.read_table(path, partitioning=None), SeedCost(**side["cost"]), side["diagnostics"])
