"""A record's digest is that of its figures and of what they depend on."""

from __future__ import annotations

import pyarrow as pa
import pytest

from fedbench.records.digest import record_digest
from fedbench.records.schema import Digests, RunHeader, SeedCost
from fedbench.records.store import Record, table_of


def record(value: float = 0.5, *, seconds: float = 1.0, code: str = "c", split: str = "test") -> Record:
    columns = {"seed": [0], "client": [1], "round": [2], "split": [split], "metric": ["accuracy"], "value": [value]}
    header = RunHeader(
        task="node", protocol="p", dataset="d", partition="q-2", clients=2, method="m", variant="default", label="M",
        seeds=(0,), settings={}, digests=Digests(settings="s", dataset="d", partition="p", code=code),
        versions={}, device="cpu", startup_seconds=seconds, costs=(SeedCost(seed=0, training_seconds=seconds),),
    )  # fmt: skip
    return Record(header, table_of(columns))


def test_seconds_do_not_count() -> None:
    assert record_digest(record(seconds=1.0)) == record_digest(record(seconds=9.0))


@pytest.mark.parametrize("other", [{"value": 0.25}, {"code": "other"}, {"split": "val"}])
def test_figures_and_what_they_depend_on_count(other: dict) -> None:
    assert record_digest(record()) != record_digest(record(**other))


def test_chunks_do_not_count() -> None:
    one = record()
    two = Record(one.header, pa.concat_tables([one.table.slice(0, 0), one.table]))
    assert record_digest(one) == record_digest(two)
