"""The digest by which tables cite a record."""

from __future__ import annotations

import hashlib
import json

from fedbench.records.schema import COLUMNS
from fedbench.records.store import Record

_IDENTITY = {"task", "protocol", "dataset", "partition", "clients", "method", "variant", "seeds", "settings", "digests"}


def record_digest(record: Record) -> str:
    """Return the sha256 of what a record says, not of what it cost: its names, digests and figures.

    The same run twice gives the same digest, though its seconds differ.
    """
    header = record.header.model_dump(mode="json", include=_IDENTITY)
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, kind in COLUMNS.items():
        column = record.table[name].combine_chunks()
        digest.update("\n".join(column.to_pylist()).encode() if kind == "string" else column.to_numpy().tobytes())
    return digest.hexdigest()
