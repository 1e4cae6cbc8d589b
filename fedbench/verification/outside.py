"""Admit the figures of an outside program, in any language, as a run record."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import fedbench
from fedbench.configuration.run import RunName
from fedbench.errors import ConfigurationError, RecordError
from fedbench.files import read_arrays, sha256_of
from fedbench.records.check import faults, name_of, program_digest
from fedbench.records.schema import COLUMNS, Digests, RunHeader
from fedbench.records.store import Record, table_of
from fedbench.settings import digest_of, parse

SHARES = ("accuracy", "recall@", "ndcg@")
"""How the names of figures start that are shares of 1."""
READ_AS = {"int32": "int32", "string": "str", "double": "float64"}


def outside_record(
    table: Path,
    run: RunName,
    programs: Sequence[Path],
    dataset_file: Path,
    partition_file: Path,
    settings: dict[str, Any],
    **about: Any,
) -> Record:
    """Return a record of the figures in ``table``, with the digests of everything they depend on.

    Args:
        table: tidy CSV with the columns of a record (`COLUMNS`); an empty value is NaN.
        run: what the figures belong to.
        programs: the program's files; their sums are the code digest.
        dataset_file: the data set file the program read.
        partition_file: the partition file it read; says how many clients there are.
        settings: whatever the program was told, free form.
        about: further header fields (task, label, device, costs, ...).

    Raises:
        ConfigurationError: a program file is missing, or a header field is wrong.
        RecordError: the CSV is damaged, has other columns, or breaks the record's rules.
        DataError: the partition file can't be read.
    """
    frame = _read(table)
    files = [path.as_posix() for path in programs]
    values = {"program": files, "values": settings}
    digests = Digests(
        settings=digest_of(values),
        dataset=sha256_of(dataset_file),
        partition=sha256_of(partition_file),
        code=_code(files),
    )
    header = {
        **run.model_dump(),
        "clients": read_arrays(partition_file)[1]["clients"],
        "seeds": tuple(sorted(int(seed) for seed in frame["seed"].unique())),
        "settings": values,
        "digests": digests.model_dump(),
        "versions": {"fedbench": fedbench.__version__, "python": platform.python_version()},
        **about,
    }
    record = Record(parse(RunHeader, header, "the outside record's header"), table_of(_columns(frame)))
    return _valid(record, table)


def read_json(path: Path) -> Any:
    """Read a JSON file given on the command line.

    Raises:
        ConfigurationError: it is missing or no JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"read {path}", found=str(error), allowed="a JSON file", remedy="correct the path or the file"
        ) from error


def refuse_misplaced(record: Record, out: Path) -> None:
    """Refuse a path at which no table would find the record.

    Raises:
        RecordError: names the path it belongs to.
    """
    own = f"{name_of(record.header)}.parquet"
    if not out.as_posix().endswith(f"/{own}") and out.as_posix() != own:
        raise RecordError(
            "write an outside record",
            found=f"path {out}",
            allowed=f"<results>/records/{own}",
            remedy="correct --out, or the names given",
        )


def _read(path: Path) -> pd.DataFrame:
    kinds = {name: READ_AS[kind] for name, kind in COLUMNS.items()}
    try:
        frame = pd.read_csv(path, dtype=kinds)
    except (OSError, ValueError) as error:
        found = f"{type(error).__name__}: {error}"
        raise RecordError(f"read {path}", found=found, allowed=f"CSV with {_COLUMNS}") from error
    if set(frame.columns) != set(COLUMNS) or frame.empty:
        found = f"{len(frame)} rows, columns {', '.join(map(str, frame.columns))}"
        raise RecordError(f"read {path}", found=found, allowed=f"rows with {_COLUMNS}")
    return frame


def _columns(frame: pd.DataFrame) -> dict[str, Sequence[object]]:
    return {name: frame[name].tolist() for name in COLUMNS}


def _code(files: Sequence[str]) -> str:
    digest = program_digest(files)
    if digest is None:
        missing = [name for name in files if not Path(name).exists()]
        raise ConfigurationError(
            "digest the program", found=f"no file {', '.join(missing)}", remedy="correct --program"
        )
    return digest


def _valid(record: Record, table: Path) -> Record:
    wrong = [*faults(record, name_of(record.header)), *_no_shares(record)]
    if wrong:
        raise RecordError(
            f"make a record of {table}",
            found="; ".join(wrong),
            allowed="one row a seed, client, round, split and metric (fedbench/records/schema.py)",
            remedy="correct the program",
        )
    return record


def _no_shares(record: Record) -> list[str]:
    """Return what is stated as another thing than a share of 1; tables print percent, records don't hold them."""
    frame = record.table.to_pandas()
    wide = frame[frame["metric"].str.startswith(SHARES) & ~frame["value"].fillna(0.0).between(0.0, 1.0)]
    return [
        f"{metric} of {value:g}; shares are from 0 to 1"
        for metric, value in wide.groupby("metric")["value"].max().items()
    ]


_COLUMNS = ", ".join(f"{name} ({kind})" for name, kind in COLUMNS.items())
