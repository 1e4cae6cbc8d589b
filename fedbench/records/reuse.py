"""Records of a bundle that needn't be made again: the present settings and code would give them as they are.

Whether data sets and partitions are still the same isn't asked, since where nothing is trained they may not have been
made; a table marks a record as stale that was made with others than those at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fedbench.errors import RecordError
from fedbench.records.check import Present
from fedbench.records.confirmed import read_confirmations
from fedbench.records.pack import HEADERS, Bundle, Entry, Layered, Records


@dataclass(frozen=True)
class Reusable:
    """The records of ``bundle`` that the ``present`` settings and code would make again."""

    bundle: Bundle
    present: Present

    @classmethod
    def of(cls, root: Path, configs: Path) -> Reusable:
        """Return those of the bundle in ``root``.

        Raises:
            RecordError: the folder is no bundle, or its confirmations are damaged.
        """
        if not (root / HEADERS).is_file():
            raise RecordError(
                f"use the records of {root}",
                found=f"no {HEADERS} there",
                allowed="a folder that `fedbench pack` wrote, such as reports/paper/records",
                remedy="name one, or leave `bundle` out",
            )
        return cls(Bundle(root), Present(configs, None, read_confirmations(root)))

    def names(self) -> list[str]:
        """Return the names of all records, sorted."""
        return [name for name, header in self.bundle.headers() if not self.present.stale(header)]

    def get(self, name: str) -> Entry | None:
        """Return a record, or None if the bundle hasn't got it, or it would come out otherwise now."""
        entry = self.bundle.get(name)
        return None if entry is None or self.present.stale(entry.record.header) else entry


def reusable(bundle: Path | None, configs: Path) -> frozenset[str]:
    """Return the names of a bundle's records that needn't be made again; none without a bundle.

    Raises:
        RecordError: the folder is no bundle, or a damaged one.
        ConfigurationError: a header is damaged.
    """
    return frozenset() if bundle is None else frozenset(Reusable.of(bundle, configs).names())


def with_bundle(records: Records, bundle: Path | None, configs: Path) -> Records:
    """Return ``records`` behind those of a bundle that needn't be made again; ``records`` alone without a bundle."""
    return records if bundle is None else Layered(Reusable.of(bundle, configs), records)
