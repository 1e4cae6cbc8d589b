"""Names of partitions: ``<scheme>-<clients>`` or ``<scheme>-<clients>-s<seed>``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fedbench.errors import ConfigurationError

_PATTERN = re.compile(r"(?P<scheme>[a-z][a-z0-9\-]*?)-(?P<clients>[1-9]\d*)(?:-s(?P<seed>\d+))?")


@dataclass(frozen=True)
class PartitionName:
    """A partition's scheme (a file of ``configs/partitions``), number of clients and seed."""

    scheme: str
    clients: int
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.scheme}-{self.clients}" + (f"-s{self.seed}" if self.seed else "")


def parse_name(text: str) -> PartitionName:
    """Return what a partition's name says.

    Raises:
        ConfigurationError: it doesn't follow the pattern; seed 0 is written by leaving it out.
    """
    match = _PATTERN.fullmatch(text)
    name = PartitionName(match["scheme"], int(match["clients"]), int(match["seed"] or 0)) if match else None
    if name is None or str(name) != text:
        raise ConfigurationError(
            f"the partition '{text}'",
            found="a name that doesn't follow the pattern" if name is None else f"a second name of '{name}'",
            allowed="<scheme>-<clients>, or <scheme>-<clients>-s<seed> for a seed other than 0",
            remedy="for example metis-10 or metis-10-s3",
        )
    return name
