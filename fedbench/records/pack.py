"""Records where they lie: a folder of runs (``results/records``), or a compact bundle (``reports/paper/records``).

A bundle is one parquet file a data set, with a column ``run`` and only the rows that tables and figures read, and
``headers.jsonl``: one line a record with its name, its digest, and the header. Of a header's diagnostics stays what a
method stated before round 1 (`fedbench.methods.exchange.Preparation`): a privacy budget, what is exchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fedbench.errors import RecordError
from fedbench.files import whole_file, write_text
from fedbench.records.digest import record_digest
from fedbench.records.schema import COLUMNS, RunHeader
from fedbench.records.store import TABLE_SCHEMA, Record, read_record
from fedbench.settings import parse

HEADERS = "headers.jsonl"


@dataclass(frozen=True)
class Entry:
    """A record with its name (path below the records folder, no suffix) and its `record_digest`."""

    name: str
    digest: str
    record: Record

    @property
    def reference(self) -> str:
        """Path of the header file and the record's short digest: how a table cites the record."""
        return f"{self.name}.json@{self.digest[:12]}"


class Records(Protocol):
    """A place with records."""

    def names(self) -> list[str]:
        """Return the names of all records, sorted."""

    def get(self, name: str) -> Entry | None:
        """Return a record, or None if there is none of this name."""


class Folder:
    """The records below ``root``, one parquet file and one header file each."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> list[str]:
        """Return the names of all records, sorted; a header without a table, or the reverse, counts."""
        found = [path for suffix in ("parquet", "json") for path in self.root.glob(f"*/*/*/*/*/seeds-*.{suffix}")]
        return sorted({str(path.relative_to(self.root).with_suffix("")) for path in found})

    def get(self, name: str) -> Entry | None:
        """Return a record, or None if neither of its files is there.

        Raises:
            RecordError, ConfigurationError: it is damaged.
        """
        table, header = (self.root / f"{name}.{suffix}" for suffix in ("parquet", "json"))
        if not table.exists() and not header.exists():
            return None
        record = read_record(table)
        return Entry(name, record_digest(record), record)


class Bundle:
    """The records of a bundle that `write_bundle` left in ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> list[str]:
        """Return the names of all records, sorted."""
        return sorted(self._lines)

    def get(self, name: str) -> Entry | None:
        """Return a record with the rows that were packed, or None if it was not packed.

        Raises:
            RecordError, ConfigurationError: the bundle is damaged.
        """
        if name not in self._lines:
            return None
        header = self._header(name)
        return Entry(name, self._lines[name]["digest"], Record(header, self._rows(header.dataset, name)))

    def headers(self) -> Iterator[tuple[str, RunHeader]]:
        """Yield the name and header of every record, sorted; no rows are read.

        Raises:
            RecordError, ConfigurationError: the bundle's headers are damaged.
        """
        return ((name, self._header(name)) for name in self.names())

    def _header(self, name: str) -> RunHeader:
        return parse(RunHeader, self._lines[name]["header"], f"{self.root / HEADERS}, {name}")

    @cached_property
    def _lines(self) -> dict[str, dict[str, Any]]:
        try:
            lines = [json.loads(line) for line in (self.root / HEADERS).read_text(encoding="utf-8").splitlines()]
            return {line["name"]: line for line in lines}
        except (OSError, ValueError, KeyError) as error:
            raise _damaged(self.root / HEADERS, error) from error

    def _rows(self, dataset: str, name: str) -> pa.Table:
        path = self.root / f"{dataset}.parquet"
        try:
            table = pq.read_table(path, filters=pc.field("run") == name, partitioning=None)
            return table.select(list(COLUMNS)).cast(TABLE_SCHEMA)
        except (OSError, KeyError, pa.ArrowException) as error:
            raise _damaged(path, error) from error


@dataclass(frozen=True)
class Layered:
    """Records of ``first``, and those of ``second`` that it hasn't got."""

    first: Records
    second: Records

    def names(self) -> list[str]:
        """Return the names of all records, sorted."""
        return sorted({*self.first.names(), *self.second.names()})

    def get(self, name: str) -> Entry | None:
        """Return a record, or None if neither has it."""
        return self.first.get(name) or self.second.get(name)


def open_records(root: Path) -> Records:
    """Return the records at ``root``, which may be a folder of runs or a bundle."""
    return Bundle(root) if (root / HEADERS).exists() else Folder(root)


def results_of(root: Path) -> Path:
    """Return the folder whose data sets and partitions the records at ``root`` are compared with."""
    return Path("results") if (root / HEADERS).exists() else root.parent


def write_bundle(entries: Iterable[Entry], keep: Iterable[tuple[str, str]], out: Path) -> None:
    """Write a bundle of ``entries`` into ``out``; ``keep`` are the (metric, split) pairs whose rows stay.

    The headers come last, so an interrupted call leaves the old bundle's headers or none, never a half-written file.
    """
    ordered = sorted(entries, key=lambda entry: entry.name)
    out.mkdir(parents=True, exist_ok=True)
    pairs = sorted(set(keep))
    for dataset in sorted({entry.record.header.dataset for entry in ordered}):
        chosen = [entry for entry in ordered if entry.record.header.dataset == dataset]
        _write_rows(out / f"{dataset}.parquet", chosen, pairs)
    write_text(out / HEADERS, "".join(f"{_line(entry)}\n" for entry in ordered))
    for left in set(out.glob("*.parquet")) - {out / f"{entry.record.header.dataset}.parquet" for entry in ordered}:
        left.unlink()


def _write_rows(path: Path, entries: list[Entry], pairs: list[tuple[str, str]]) -> None:
    tables = [_packed(entry, pairs) for entry in entries]
    with whole_file(path) as temporary, pq.ParquetWriter(temporary, tables[0].schema, **_PARQUET) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=max(1, table.num_rows))


def _packed(entry: Entry, pairs: list[tuple[str, str]]) -> pa.Table:
    """Return the kept rows, sorted so that neighbours are alike, with the column ``run`` in front."""
    table = entry.record.table
    wanted = pc.is_in(_pair(table["metric"], table["split"]), value_set=pa.array([f"{m}\x1f{s}" for m, s in pairs]))
    rows = table.filter(wanted).sort_by([(name, "ascending") for name in _ORDER])
    return rows.add_column(0, "run", pa.array([entry.name] * rows.num_rows, pa.string()))


def _pair(metric: pa.ChunkedArray, split: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(metric, split, "\x1f")


def _line(entry: Entry) -> str:
    header = entry.record.header.model_dump(mode="json", exclude={"diagnostics"})
    header["diagnostics"] = prepared(entry.record.header.diagnostics)
    line = {"name": entry.name, "digest": entry.digest, "header": header}
    return json.dumps(line, sort_keys=True, separators=(",", ":"), allow_nan=False)


def prepared(diagnostics: Mapping[str, Any]) -> dict[str, Any]:
    """Return each seed's ``preparation`` alone; mixing matrices and the like stay in the run's own record."""
    stated = {seed: own for seed, own in diagnostics.items() if isinstance(own, dict) and "preparation" in own}
    return {seed: {"preparation": own["preparation"]} for seed, own in stated.items()}


def _damaged(path: Path, error: Exception) -> RecordError:
    found = f"{type(error).__name__}: {error}"
    return RecordError(
        f"read the bundle {path}", found=found, remedy="run `fedbench pack` again, or check the file out"
    )


_ORDER = ("metric", "split", "seed", "client", "round")
_PARQUET: dict[str, Any] = {"compression": "zstd", "compression_level": 15, "write_statistics": ["run"]}
