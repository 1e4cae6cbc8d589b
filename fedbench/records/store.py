"""Write and read run records. Imports pyarrow, not pandas: training jobs write records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fedbench.errors import RecordError
from fedbench.files import whole_file, write_json
from fedbench.records.schema import COLUMNS, RunHeader
from fedbench.settings import parse

TABLE_SCHEMA = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])


@dataclass(frozen=True)
class Record:
    """A run record in memory: its header and its tidy table (`COLUMNS`)."""

    header: RunHeader
    table: pa.Table


def table_of(columns: Mapping[str, Any]) -> pa.Table:
    """Return a tidy table in the record schema from columns that NumPy can read.

    Built from buffers: pyarrow's converters import pandas, which would slow the start of every training job.
    """
    return pa.Table.from_arrays([_column(columns[name], kind) for name, kind in COLUMNS.items()], schema=TABLE_SCHEMA)


def _column(values: Any, kind: str) -> pa.Array:
    return _words(np.asarray(values)) if kind == "string" else _numbers(values, kind)


def _numbers(values: Any, kind: str) -> pa.Array:
    array = np.ascontiguousarray(values, dtype=kind)
    return pa.Array.from_buffers(pa.type_for_alias(kind), len(array), [None, pa.py_buffer(array)])


def _words(values: np.ndarray) -> pa.Array:
    words, codes = np.unique(values, return_inverse=True)
    text = [str(word).encode() for word in words]
    ends = np.cumsum([0, *map(len, text)]).astype(np.int32)
    dictionary = pa.StringArray.from_buffers(len(text), pa.py_buffer(ends), pa.py_buffer(b"".join(text)))
    return pa.DictionaryArray.from_arrays(_numbers(codes, "int32"), dictionary).cast(pa.string())


def require_parquet(path: Path) -> None:
    """Refuse another suffix than ``.parquet`` for a record.

    Raises:
        RecordError: names it.
    """
    if path.suffix != ".parquet":
        raise RecordError(
            f"write a record to {path}",
            found=f"suffix '{path.suffix}'",
            allowed=".parquet; the header is written beside it as .json",
            remedy="correct --out",
        )


def write_record(path: Path, record: Record) -> None:
    """Write ``path`` (parquet) and the header beside it; each file is whole or absent, the header comes last."""
    with whole_file(path) as temporary:
        pq.write_table(record.table, temporary, compression="zstd", write_statistics=False)
    write_json(path.with_suffix(".json"), record.header.model_dump(mode="json"))


def read_record(path: Path) -> Record:
    """Read a record from its parquet path.

    Raises:
        RecordError: one of the two files is missing or damaged, or has other columns than `COLUMNS`.
        ConfigurationError: the header breaks its schema.
    """
    header = parse(RunHeader, _read_header(path.with_suffix(".json")), str(path.with_suffix(".json")))
    try:
        table = pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise RecordError(f"read the record {path}", found=str(error), remedy=_AGAIN) from error
    if table.schema.names != list(COLUMNS):
        raise RecordError(
            f"read the record {path}",
            found=f"columns {', '.join(table.schema.names)}",
            allowed=f"columns {', '.join(COLUMNS)}",
            remedy=_AGAIN,
        )
    return Record(header, table.cast(TABLE_SCHEMA))


_AGAIN = "delete the file and run the job again"


def _read_header(path: Path) -> dict[str, object]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordError(f"read the record header {path}", found=str(error), remedy=_AGAIN) from error
    return dict(values)
