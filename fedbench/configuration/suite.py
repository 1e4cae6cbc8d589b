"""Suites: which tables are built, over which data sets, partitions and seeds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field, model_validator

from fedbench.configuration.method import load_method_file
from fedbench.configuration.protocol import load_protocol
from fedbench.configuration.run import RunName, block_name
from fedbench.configuration.table import Row, TableFile, faults, load_table
from fedbench.errors import ConfigurationError, nearest
from fedbench.settings import Settings, parse, read_yaml


class TableChoice(Settings):
    """One table of a suite; what is given replaces the table file's value."""

    datasets: tuple[str, ...] | None = None
    partitions: tuple[str, ...] | None = None
    protocol: str | None = None
    partition_seeds: int | None = Field(None, ge=1)
    partition_run_seeds: int | None = Field(None, ge=1)
    without: tuple[str, ...] = Field((), description="rows left out, `method` or `method/variant`")
    only: tuple[str, ...] | None = Field(None, description="the rows kept, likewise (default: all)")
    seeds_per_job: int | None = Field(None, ge=1, description="the suite's, unless given")


class FigureChoice(Settings):
    """One figure of a suite, drawn from one of its tables."""

    name: str = Field(description="module of fedbench/figures, such as accuracy-by-round")
    table: str | None = Field(None, description="table drawn (default: the suite's first)")
    only: tuple[str, ...] = Field((), description="rows drawn (default: all), `method` or `method/variant`")

    @property
    def stem(self) -> str:
        """Return the file's name without suffix."""
        return f"{self.name}-{self.table}" if self.table else self.name


class Suite(Settings):
    """``configs/suites/<name>.yaml``."""

    title: str
    description: str
    seeds: int = Field(3, ge=1, description="how many")
    first_seed: int = Field(0, ge=0)
    seeds_per_job: int = Field(5, ge=1, description="seeds one training job runs after another")
    tables: dict[str, TableChoice] = Field(min_length=1)
    figures: tuple[FigureChoice, ...] | None = Field(
        None, description="default: of the first table, every figure that needs no more than records or partitions"
    )

    @model_validator(mode="after")
    def _figures_of_tables(self) -> Suite:
        unknown = [choice.table for choice in self.figures or () if choice.table and choice.table not in self.tables]
        if unknown:
            raise ValueError(f"figures of tables that the suite hasn't: {', '.join(unknown)}")
        return self

    @property
    def seed_blocks(self) -> list[str]:
        """Return the names of the blocks of seeds, one training job each, of a table that says nothing else."""
        return self._blocks(self.seeds_per_job)

    def blocks_of(self, table: str) -> list[str]:
        """Return the names of a table's blocks of seeds, one training job each."""
        return self._blocks(self.tables[table].seeds_per_job or self.seeds_per_job)

    def _blocks(self, step: int) -> list[str]:
        seeds = tuple(range(self.first_seed, self.first_seed + self.seeds))
        return [block_name(seeds[start : start + step]) for start in range(0, len(seeds), step)]


def load_suite(name: str, configs: Path) -> Suite:
    """Read ``configs/suites/<name>.yaml``."""
    path = configs / "suites" / f"{name}.yaml"
    return parse(Suite, read_yaml(path), str(path))


def table_in_suite(name: str, suite: Suite, configs: Path, also: Iterable[str] = ()) -> TableFile:
    """Return a table as a suite builds it; ``also`` appends methods (``name`` or ``name/variant``) as rows.

    A row that the table has already isn't appended again, nor a method that isn't for the table's task.

    Raises:
        ConfigurationError: the suite names a row that the table doesn't have, or what it changes leaves no whole table.
    """
    table, choice = load_table(name, configs), suite.tables[name]
    where = f"table '{name}' of suite '{suite.title}'"
    rows = _kept(_chosen(table.rows, choice.only, where), choice.without, where)
    changes = choice.model_dump(exclude_none=True, exclude={"without", "only", "seeds_per_job"})
    changed = table.model_copy(update={**changes, "rows": rows})
    _require_whole(changed, where)
    return changed.model_copy(update={"rows": rows + _rows_beside(changed, also, configs)})


def _require_whole(table: TableFile, where: str) -> None:
    """Refuse a table that its own file couldn't hold: `model_copy` validates nothing."""
    wrong = faults(table)
    if wrong:
        raise ConfigurationError(
            f"build {where}",
            found="; ".join(wrong),
            allowed="changes after which the table could still be a file of configs/tables",
            remedy="keep the rows named as `baseline` and `floor`, and give a partition of every data set",
        )


def _rows_beside(table: TableFile, also: Iterable[str], configs: Path) -> tuple[Row, ...]:
    """Return the rows that ``also`` adds to a table; none to one of partitions."""
    if not (also and table.protocol):
        return ()
    task, names = load_protocol(table.protocol, configs).training.task, {row.name for row in table.rows}
    asked = {row.name: row for row in map(row_named, also) if task in load_method_file(row.method, configs).tasks}
    return tuple(row for name, row in asked.items() if name not in names)


def rows_only(table: TableFile, only: Iterable[str]) -> TableFile:
    """Return the table with the named rows alone, or as it is where none is named.

    Raises:
        ConfigurationError: it has no such row.
    """
    return table.model_copy(update={"rows": _chosen(table.rows, tuple(only) or None, f"'{table.title}'")})


def _kept(rows: tuple[Row, ...], without: tuple[str, ...], where: str) -> tuple[Row, ...]:
    left_out = _names(without, rows, f"leave out rows of {where}")
    return tuple(row for row in rows if row.name not in left_out)


def _chosen(rows: tuple[Row, ...], only: tuple[str, ...] | None, where: str) -> tuple[Row, ...]:
    if only is None:
        return rows
    kept = _names(only, rows, f"keep rows of {where}")
    return tuple(row for row in rows if row.name in kept)


def _names(texts: Iterable[str], rows: tuple[Row, ...], asked: str) -> set[str]:
    """Return the rows' names; each must be one of the table's."""
    names = {row_named(text).name for text in texts}
    unknown = sorted(names - {row.name for row in rows})
    if unknown:
        raise ConfigurationError(
            asked,
            found=f"no row {unknown[0]}{nearest(unknown[0], [row.name for row in rows])}",
            allowed=", ".join(row.name for row in rows),
            remedy="correct the name (`method` or `method/variant`)",
        )
    return names


def row_named(text: str) -> Row:
    """Return the row that ``method`` or ``method/variant`` names."""
    method, _, variant = text.partition("/")
    return Row(method=method, variant=variant or "default")


def runs_of_suite(suite: Suite, configs: Path, also: Iterable[str] = ()) -> list[RunName]:
    """Return the distinct runs of all tables of a suite, in order, those on further seeds of a partition included."""
    tables = (table_in_suite(name, suite, configs, also) for name in suite.tables)
    return list(dict.fromkeys(run for table in tables for run, _ in table.planned(suite.seed_blocks)))


def files_of_suite(suite: Suite, configs: Path) -> list[tuple[str, str]]:
    """Return the distinct (data set, partition) pairs of all tables of a suite, in order."""
    tables = (table_in_suite(name, suite, configs) for name in suite.tables)
    return list(dict.fromkeys(pair for table in tables for pair in table.files()))
