"""What data set files and partition files have in common: arrays by name, a description, a kind and a task."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from fedbench.errors import DataError
from fedbench.files import read_arrays, sha256_of, write_arrays


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """A file of ours; a subclass's own fields are its arrays. Reading one imports NumPy only.

    Attributes:
        meta: the description.
        digest: sha256 of the file it was read from; empty if it was not read from a file.
    """

    KIND: ClassVar[str]
    """The command that makes it."""
    TASK: ClassVar[str]

    meta: dict[str, Any]
    digest: str = ""

    @classmethod
    def arrays(cls) -> tuple[str, ...]:
        """Return the names of the arrays, in the file's order."""
        common = {field.name for field in fields(Artefact)}
        return tuple(field.name for field in fields(cls) if field.name not in common)

    def write(self, path: Path) -> None:
        """Write the file; the same content gives the same bytes."""
        write_arrays(path, {name: getattr(self, name) for name in self.arrays()}, self.meta)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the file.

        Raises:
            DataError: it is missing, damaged, of another task, or has other arrays.
        """
        arrays, meta = read_arrays(path)
        told = meta.get("task", "node")  # partitions of nodes name no task
        if set(arrays) != set(cls.arrays()) or told != cls.TASK:
            raise DataError(
                f"read the {cls.KIND} {path}",
                found=f"task {told}, arrays {', '.join(sorted(arrays))}",
                allowed=f"task {cls.TASK}, arrays {', '.join(cls.arrays())}",
                remedy=f"run `fedbench {cls.KIND}` again",
            )
        return cls(**arrays, meta=meta, digest=sha256_of(path))


class DatasetArtefact(Artefact):
    """A data set file."""

    KIND = "dataset"

    @property
    def name(self) -> str:
        """Return the data set's name in the catalogue."""
        return str(self.meta["dataset"])


class PartitionArtefact(Artefact):
    """A partition file."""

    KIND = "partition"

    @property
    def clients(self) -> int:
        """Return the number of clients."""
        return int(self.meta["clients"])
