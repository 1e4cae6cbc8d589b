"""Is a record valid, and would the present settings, data and code make it again?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow.compute as pc

from fedbench.configuration.run import RunName, RunSettings, block_name, resolve
from fedbench.errors import FedbenchError
from fedbench.files import sha256_of
from fedbench.records.confirmed import Confirmations
from fedbench.records.name import record_name
from fedbench.records.schema import SPLITS, RunHeader
from fedbench.records.store import Record
from fedbench.settings import digest_of, parse


def run_of(header: RunHeader) -> RunName:
    """Return the name of the run a header belongs to."""
    return RunName(**{field: getattr(header, field) for field in RunName.model_fields})


def name_of(header: RunHeader) -> str:
    """Return a record's name: its path below ``results/records`` without a suffix."""
    return record_name(run_of(header), block_name(header.seeds))


def faults(record: Record, name: str) -> list[str]:
    """Return what is wrong with a record that lies at ``name``; nothing if it is valid.

    A NaN value is allowed: it is the figure of a client without nodes in that split.
    """
    return [fault for check in _CHECKS for fault in check(record, name)]


class Present:
    """Digests of the settings, data and code as they are now; each is computed once.

    Args:
        configs: the folder of configuration files.
        results: the folder with ``datasets/`` and ``partitions/``; None to leave those two out.
        confirmed: changes of code that are known to change no figure.
    """

    def __init__(self, configs: Path, results: Path | None, confirmed: Confirmations | None = None) -> None:
        self._configs, self._results, self.confirmed = configs, results, confirmed or Confirmations()
        self._known: dict[tuple[str, ...], str | None] = {}

    def digests(self, header: RunHeader) -> dict[str, str | None]:
        """Return the present value of each of a header's digests.

        None means that it can't be told here (a data file or an outside program is not on this machine); an empty
        string that what the record was made with exists no more.
        """
        run = run_of(header)
        data = {"dataset": f"datasets/{run.dataset}.npz", "partition": f"partitions/{run.dataset}/{run.partition}.npz"}
        files = {part: self._file(path) for part, path in data.items()}
        return {"settings": self._settings(header, run), **files, "code": self._code(header)}

    def stale(self, header: RunHeader) -> list[str]:
        """Return which of settings, dataset, partition, code are not what the record was made with.

        Settings that have been added since count with their defaults, code that is confirmed as the same.
        """
        now = self.digests(header)
        changed = [part for part, digest in now.items() if digest not in (None, getattr(header.digests, part))]
        excused = {
            "settings": lambda: _digest_as_read_now(header) == now["settings"],
            "code": lambda: self.confirmed.cover(header, now["code"]),
        }
        return [part for part in changed if not excused.get(part, lambda: False)()]

    def unknown(self, header: RunHeader) -> list[str]:
        """Return which of them can't be compared here."""
        return [part for part, digest in self.digests(header).items() if digest is None]

    def _file(self, path: str) -> str | None:
        return None if self._results is None else self._once(_file_digest, self._results / path)

    def _settings(self, header: RunHeader, run: RunName) -> str | None:
        if program_of(header):
            return header.digests.settings
        return self._once(_settings_digest, run, self._configs)

    def _code(self, header: RunHeader) -> str | None:
        files = program_of(header)
        return self._once(program_digest, files) if files else self._once(_code_digest, header.method, header.task)

    def _once(self, compute: Callable[..., str | None], *arguments: object) -> str | None:
        key = (compute.__name__, *map(str, arguments))
        if key not in self._known:
            self._known[key] = compute(*arguments)
        return self._known[key]


def program_of(header: RunHeader) -> tuple[str, ...]:
    """Return the files of the outside program that made a record, or nothing for a method of this package."""
    return tuple(header.settings.get("program", ()))


def program_digest(files: Iterable[str]) -> str | None:
    """Return the digest of a program: its one file's sha256, or that of all names and sums; None if a file is gone."""
    sums = {name: _file_digest(Path(name)) for name in files}
    if None in sums.values():
        return None
    return digest_of(sums) if len(sums) > 1 else next(iter(sums.values()))


def _file_digest(path: Path) -> str | None:
    return sha256_of(path) if path.exists() else None


def _digest_as_read_now(header: RunHeader) -> str:
    """Return the digest of a record's settings as the present model reads them; empty if it can't."""
    try:
        return digest_of(parse(RunSettings, header.settings, "a record").model_dump(mode="json"))
    except FedbenchError:
        return ""


def _settings_digest(run: RunName, configs: Path) -> str:
    try:
        return digest_of(resolve(run, configs).model_dump(mode="json"))
    except FedbenchError:
        return ""


def _code_digest(method: str, task: str) -> str:
    from fedbench.provenance import code_digest

    try:
        return code_digest(method, task)
    except FedbenchError:
        return ""


def _misplaced(record: Record, name: str) -> list[str]:
    own = name_of(record.header)
    return [] if own == name else [f"lies at {name}, but its header says {own}"]


def _altered(record: Record, _: str) -> list[str]:
    same = digest_of(record.header.settings) == record.header.digests.settings
    return [] if same else ["the header's settings don't give the header's settings digest"]


def _wrong_seeds(record: Record, _: str) -> list[str]:
    found = sorted(pc.unique(record.table["seed"]).to_pylist())
    said = sorted(record.header.seeds)
    return [] if found == said else [f"seeds {found} in the table, {said} in the header"]


def _wrong_clients(record: Record, _: str) -> list[str]:
    clients = record.header.clients
    wrong = [client for client in pc.unique(record.table["client"]).to_pylist() if not -1 <= client < clients]
    return [f"clients {sorted(wrong)} of {clients} (allowed: -1 .. {clients - 1})"] if wrong else []


def _wrong_splits(record: Record, _: str) -> list[str]:
    wrong = set(pc.unique(record.table["split"]).to_pylist()) - set(SPLITS)
    return [f"splits {sorted(wrong)} (allowed: {', '.join(SPLITS)})"] if wrong else []


def _wrong_values(record: Record, _: str) -> list[str]:
    infinite = pc.sum(pc.is_inf(record.table["value"])).as_py() or 0
    empty = sum(column.null_count for column in record.table.columns)
    counts = {"infinite values": infinite, "empty fields": empty}
    return [f"{count} {what}" for what, count in counts.items() if count]


def _repeated(record: Record, _: str) -> list[str]:
    keys = [name for name in record.table.column_names if name != "value"]
    distinct = record.table.group_by(keys).aggregate([]).num_rows
    return [f"{record.table.num_rows - distinct} repeated rows"] if distinct < record.table.num_rows else []


_CHECKS: tuple[Callable[[Record, str], list[str]], ...] = (
    _misplaced,
    _altered,
    _wrong_seeds,
    _wrong_clients,
    _wrong_splits,
    _wrong_values,
    _repeated,
)
