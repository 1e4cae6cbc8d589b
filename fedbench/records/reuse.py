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
class Only:
    """The records of ``of`` that are named."""

    of: Records
    kept: frozenset[str]

    def names(self) -> list[str]:
        """Return the names of all records, sorted."""
        return sorted(self.kept)

    def get(self, name: str) -> Entry | None:
        """Return a record, or None if it isn't one of those named."""
        return self.of.get(name) if name in self.kept else None


def reusable(bundle: Path | None, configs: Path) -> frozenset[str]:
    """Return the names of a bundle's records that the present settings and code would make again; none without a bundle.

    Raises:
        RecordError: the folder is no bundle, or a damaged one.
        ConfigurationError: a header is damaged.
    """
    if bundle is None:
        return frozenset()
    if not (bundle / HEADERS).is_file():
        raise RecordError(
            f"use the records of {bundle}",
            found=f"no {HEADERS} there",
            allowed="a folder that `fedbench pack` wrote, such as reports/paper/records",
            remedy="name one, or leave `bundle` out",
        )
    present = Present(configs, None, read_confirmations(bundle))
    return frozenset(name for name, header in Bundle(bundle).headers() if not present.stale(header))


def with_bundle(records: Records, bundle: Path | None, configs: Path) -> Records:
    """Return ``records`` behind those of a bundle that needn't be made again; ``records`` alone without a bundle."""
    return records if bundle is None else Layered(Only(Bundle(bundle), reusable(bundle, configs)), records)
