"""Confirmations: retraining showed that other code than a record was made with gives the same figures.

Every change of the engine gives all records another code digest, and most changes alter no figure. The command
``fedbench verify --confirm`` retrains one record of every method and variant; where each figure comes out again,
exactly, it writes a line beside the records. A record whose code differs from the present one only in confirmed ways is
not stale: code that two others are confirmed to equal makes these equal, so a change is confirmed once, not once for
every earlier program that records were made with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from fedbench.errors import RecordError
from fedbench.files import write_text
from fedbench.records.schema import RunHeader
from fedbench.settings import Settings

FILE = "confirmed.jsonl"


class Confirmation(Settings):
    """One method's variant, two code digests, and the run that gave the same figures under both."""

    method: str
    variant: str
    made_with: str = Field(description="code digest of the stored record")
    now: str = Field(description="code digest of the program that retrained it")
    record: str
    seed: int
    figures: int = Field(ge=1, description="figures compared, all equal")


@dataclass(frozen=True)
class Confirmations:
    """Confirmations found beside some records."""

    known: tuple[Confirmation, ...] = ()

    def alike(self, header: RunHeader) -> frozenset[str]:
        """Return the digests of all code confirmed, at once or step by step, to give what a record's code gave."""
        run = (header.method, header.variant)
        links = [{c.made_with, c.now} for c in self.known if (c.method, c.variant) == run]
        found, wider = set[str](), {header.digests.code}
        while wider > found:
            found = wider
            wider = found.union(*(link for link in links if link & found))
        return frozenset(found)

    def cover(self, header: RunHeader, now: str | None) -> bool:
        """Tell whether the present code is confirmed to give what the record's code gave."""
        return now != header.digests.code and now in self.alike(header)


def read_confirmations(*roots: Path) -> Confirmations:
    """Read the confirmations beside the records at each of ``roots``; none where there is no such file.

    Raises:
        RecordError: a file is damaged.
    """
    return Confirmations(tuple(known for root in roots for known in _read(root / FILE)))


def _read(path: Path) -> tuple[Confirmation, ...]:
    if not path.exists():
        return ()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return tuple(Confirmation.model_validate_json(line) for line in lines)
    except (OSError, ValueError) as error:
        raise RecordError(
            f"read {path}", found=str(error), remedy="check the file out again, or delete it and run `fedbench verify`"
        ) from error


def write_confirmations(root: Path, new: Iterable[Confirmation]) -> None:
    """Add confirmations; a newer one of the same method, variant and pair of digests replaces the older."""
    lines = {_key(c): c for c in (*read_confirmations(root).known, *new)}
    write_text(root / FILE, "".join(f"{lines[key].model_dump_json()}\n" for key in sorted(lines)))


def _key(confirmation: Confirmation) -> tuple[str, str, str, str]:
    return confirmation.method, confirmation.variant, confirmation.made_with, confirmation.now
