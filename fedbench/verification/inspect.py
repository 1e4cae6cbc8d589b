"""Tell of every record whether it is valid, stale or invalid, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fedbench.errors import FedbenchError
from fedbench.records.check import Present, faults
from fedbench.records.pack import Entry, Records

VALID, STALE, INVALID = "valid", "stale", "invalid"


@dataclass(frozen=True)
class Finding:
    """A record's name, its state, and the reasons for it (for a valid record: what couldn't be compared)."""

    name: str
    state: str
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.state:7} {self.name}" + (f": {'; '.join(self.reasons)}" if self.reasons else "")


def inspect(records: Records, present: Present) -> Iterator[Finding]:
    """Yield a finding for every record; a damaged one is a finding, not a failure."""
    for name in records.names():
        try:
            entry = records.get(name)
        except FedbenchError as error:
            yield Finding(name, INVALID, (error.found.splitlines()[0],))
            continue
        if entry:
            yield _finding(entry, present)


def _finding(entry: Entry, present: Present) -> Finding:
    wrong = faults(entry.record, entry.name)
    if wrong:
        return Finding(entry.name, INVALID, tuple(wrong))
    header = entry.record.header
    stale = tuple(f"other {part} than now" for part in present.stale(header))
    if stale:
        return Finding(entry.name, STALE, stale)
    return Finding(entry.name, VALID, tuple(f"{part} not here to compare" for part in present.unknown(header)))
