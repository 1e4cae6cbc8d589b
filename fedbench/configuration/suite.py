"""Suites: which tables are built, over which data sets, partitions and seeds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from fedbench.configuration.run import RunName, block_name
from fedbench.configuration.table import Row, TableFile, load_table
from fedbench.settings import Settings, parse, read_yaml


class TableChoice(Settings):
    """One table of a suite; what is given replaces the table file's value."""

    datasets: tuple[str, ...] | None = None
    partitions: tuple[str, ...] | None = None
    protocol: str | None = None


class Suite(Settings):
    """``configs/suites/<name>.yaml``."""

    title: str
    description: str
    seeds: int = Field(3, ge=1, description="seeds 0 .. seeds-1")
    seeds_per_job: int = Field(5, ge=1, description="seeds one training job runs after another")
    tables: dict[str, TableChoice] = Field(min_length=1)

    @property
    def seed_blocks(self) -> list[str]:
        """Return the names of the blocks of seeds, one training job each."""
        seeds = tuple(range(self.seeds))
        step = self.seeds_per_job
        return [block_name(seeds[start : start + step]) for start in range(0, self.seeds, step)]


def load_suite(name: str, configs: Path) -> Suite:
    """Read ``configs/suites/<name>.yaml``."""
    path = configs / "suites" / f"{name}.yaml"
    return parse(Suite, read_yaml(path), str(path))


def table_in_suite(name: str, suite: Suite, configs: Path, also: Iterable[str] = ()) -> TableFile:
    """Return a table as a suite builds it; ``also`` appends methods (``name`` or ``name/variant``) as rows."""
    table = load_table(name, configs)
    choice = suite.tables[name].model_dump(exclude_none=True)
    rows = table.rows + tuple(_row(text) for text in also)
    return table.model_copy(update={**choice, "rows": rows})


def _row(text: str) -> Row:
    method, _, variant = text.partition("/")
    return Row(method=method, variant=variant or "default")


def runs_of_suite(suite: Suite, configs: Path, also: Iterable[str] = ()) -> list[RunName]:
    """Return the distinct runs of all tables of a suite, in order."""
    tables = (table_in_suite(name, suite, configs, also) for name in suite.tables)
    return list(dict.fromkeys(run for table in tables for run in table.runs()))
