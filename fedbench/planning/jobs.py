"""Training jobs: one block of seeds of one run, and the two files it leaves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fedbench.configuration.run import RunName, seed_block
from fedbench.configuration.suite import Suite, table_in_suite
from fedbench.records.name import record_name
from fedbench.settings import Settings


class Job(Settings):
    """One training job."""

    run: RunName
    block: str

    @property
    def name(self) -> str:
        """Name of the record."""
        return record_name(self.run, self.block)

    @property
    def record(self) -> Path:
        """Path of the record's table below ``results/records``."""
        return Path(f"{self.name}.parquet")

    @property
    def seeds(self) -> int:
        """Return how many seeds the job trains."""
        return len(seed_block(self.block))

    def is_done(self, records: Path) -> bool:
        """Tell whether both files of the record exist (whether they are stale, `fedbench check` says)."""
        path = records / self.record
        return path.exists() and path.with_suffix(".json").exists()


def jobs_of_table(name: str, suite: Suite, configs: Path, also: Iterable[str] = ()) -> list[Job]:
    """Return the jobs whose records fill one table of a suite, in order and without repetition."""
    planned = table_in_suite(name, suite, configs, also).planned(suite.blocks_of(name))
    return list(dict.fromkeys(Job(run=run, block=block) for run, blocks in planned for block in blocks))
