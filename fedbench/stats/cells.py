"""Which records fill which cell of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedbench.configuration.run import RunName
from fedbench.configuration.suite import Suite, table_in_suite
from fedbench.configuration.table import Row, TableFile
from fedbench.errors import ConfigurationError, RecordError, nearest
from fedbench.records.check import faults
from fedbench.records.name import record_name
from fedbench.records.pack import Entry, Records
from fedbench.records.store import Record

LISTED = 20


@dataclass(frozen=True)
class Cell:
    """One run of a table: its records by seed block, and the names of the records that are not there.

    ``others`` is the same run on the other seeds of its partition, where the table asks for the spread over them.
    """

    row: Row
    run: RunName
    entries: tuple[Entry, ...]
    missing: tuple[str, ...]
    others: tuple[Cell, ...] = ()

    @property
    def records(self) -> list[Record]:
        """Return the records themselves."""
        return [entry.record for entry in self.entries]

    @property
    def partitions(self) -> tuple[Cell, ...]:
        """Return the cell and its others: one a partition seed, in order."""
        return (self, *self.others)

    @property
    def all_entries(self) -> list[Entry]:
        """Return the records of all partition seeds."""
        return [entry for cell in self.partitions for entry in cell.entries]

    @property
    def all_missing(self) -> list[str]:
        """Return the names of the missing records of all partition seeds."""
        return [name for cell in self.partitions for name in cell.missing]


def table_named(name: str, suite: Suite, configs: Path, also: Sequence[str] = ()) -> TableFile:
    """Return a table as the suite builds it, with the rows ``also`` (``method`` or ``method/variant``) below.

    Raises:
        ConfigurationError: the suite has no such table.
    """
    if name not in suite.tables:
        raise ConfigurationError(
            f"table '{name}' of the suite '{suite.title}'",
            found=f"no such table{nearest(name, suite.tables)}",
            allowed=", ".join(suite.tables),
            remedy="correct the name, or add the table to the suite's file",
        )
    return table_in_suite(name, suite, configs, also)


def cells_of(table: TableFile, blocks: Iterable[str], records: Records) -> list[Cell]:
    """Return the cells of a table in reading order (row, data set, partition).

    Args:
        table: the table as the suite builds it.
        blocks: names of the suite's seed blocks; exactly these records are read, whatever else lies there.
        records: where records are.

    Raises:
        RecordError: a record is damaged or invalid.
    """
    own = list(blocks)
    few = table.spread_blocks(own)

    def cell(row: Row, run: RunName, others: Sequence[RunName]) -> Cell:
        return _cell(row, run, own, records, tuple(_cell(row, other, few, records) for other in others))

    return [cell(row, run, table.other_partitions(run)) for row, run in table.row_runs()]


def require_complete(cells: Sequence[Cell], what: str, remedy: str) -> None:
    """Refuse cells with missing records.

    Raises:
        RecordError: lists the missing records, and ``remedy``.
    """
    missing = list(dict.fromkeys(name for cell in cells for name in cell.all_missing))
    if missing:
        more = f"\n         and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
        listed = "\n         ".join(missing[:LISTED])
        found = f"{len(missing)} records are missing:\n         {listed}{more}"
        raise RecordError(what, found=found, remedy=remedy)


def _cell(row: Row, run: RunName, blocks: Sequence[str], records: Records, others: tuple[Cell, ...] = ()) -> Cell:
    names = [record_name(run, block) for block in blocks]
    found = {name: records.get(name) for name in names}
    entries = tuple(_valid(entry) for entry in found.values() if entry)
    return Cell(row, run, entries, tuple(name for name, entry in found.items() if not entry), others)


def _valid(entry: Entry) -> Entry:
    wrong = faults(entry.record, entry.name)
    if wrong:
        raise RecordError(
            f"use the record {entry.name}",
            found="; ".join(wrong),
            allowed="a valid record (fedbench/records/schema.py)",
            remedy="delete it and run the job again; `fedbench check` lists all such records",
        )
    return entry
