"""Table specifications: which runs fill a table's cells, and which published figures stand beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from fedbench.configuration.run import RunName, block_name, seed_block
from fedbench.configuration.table_parts import Grid, Metric, Published, Reading, Row, Sweep
from fedbench.settings import Settings, parse, read_yaml

Kind = Literal["figure", "communication", "seconds", "paired", "noniid"]


class TableFile(Settings):
    """``configs/tables/<paper>-<table>.yaml``."""

    title: str
    caption: str
    kind: Kind = Field(
        "figure",
        description="figure (formerly accuracy): `metric` of the records; communication, seconds: costs of the "
        "headers; paired: `metric` minus the baseline's, seed by seed; noniid: `readings` of partitions, no records",
    )
    measured: bool = Field(False, description="true: holds clock readings, so two runs differ")
    protocol: str = ""
    datasets: tuple[str, ...] = Field(min_length=1)
    partitions: tuple[str, ...] = Field(min_length=1)
    partition_seeds: int = Field(1, ge=1, description="seeds 0 .. n-1 of each partition, for the spread over them")
    partition_run_seeds: int = Field(1, ge=1, description="run seeds 0 .. n-1 that count in the spread over partitions")
    metric: Metric = Metric()
    further: tuple[Metric, ...] = Field((), description="kind figure: further figures, printed beside `metric`")
    published: tuple[Published, ...] = Field((), description="one source, or several in order of preference")
    reproduced_within: float = Field(0.5, gt=0, description="points; inside it a cell counts as reproduced")
    rows: tuple[Row, ...] = ()
    baseline: str | None = Field(None, description="kind paired: the row (method or method/variant) that is subtracted")
    readings: tuple[Reading, ...] = Field((), description="kind noniid: its rows")
    sweep: Sweep | None = Field(None, description="axis of the figure `sweep`")
    grid: Grid | None = Field(None, description="axes of the figure `grid`")
    spectra: int | None = Field(None, ge=1, description="eigenvalues a client in the figure `spectra`")
    diagnostics: tuple[str, ...] = Field((), description="metrics (split none) of the figure `apv-diagnostics`")

    @field_validator("kind", mode="before")
    @classmethod
    def _former_name(cls, value: Any) -> Any:
        return "figure" if value == "accuracy" else value

    @field_validator("published", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return () if value is None else (value,) if isinstance(value, dict | Published) else value

    @model_validator(mode="after")
    def _complete(self) -> TableFile:
        wrong = [text for text, found in _faults(self) if found]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Return every figure that is read off the records."""
        return (self.metric, *self.further)

    def by_figure(self) -> tuple[TableFile, ...]:
        """Return the table once for each of its figures, with that figure alone."""
        return tuple(self.model_copy(update={"metric": metric, "further": ()}) for metric in self.metrics)

    @property
    def baseline_row(self) -> Row | None:
        """Return the row that is subtracted from the others."""
        wanted = {self.baseline, f"{self.baseline}/default"}
        return next((row for row in self.rows if row.name in wanted), None)

    @property
    def printed_rows(self) -> tuple[Row, ...]:
        """Return the rows that are printed: all but the baseline, or one a reading."""
        if self.kind == "noniid":
            return tuple(Row(method=reading.name, published=reading.published) for reading in self.readings)
        return tuple(row for row in self.rows if row != self.baseline_row)

    def runs(self) -> list[RunName]:
        """Return every run that fills a cell, in reading order; none for a table of partitions."""
        return [
            RunName(protocol=self.protocol, dataset=d, partition=p, method=row.method, variant=row.variant)
            for row in self.rows
            for d in self.datasets
            for p in self.partitions
        ]

    def partitions_like(self, partition: str) -> list[str]:
        """Return the names of the partition made with the other seeds."""
        return [f"{partition}-s{seed}" for seed in range(1, self.partition_seeds)]

    def other_partitions(self, run: RunName) -> list[RunName]:
        """Return the same run on the other seeds of its partition."""
        return [run.model_copy(update={"partition": name}) for name in self.partitions_like(run.partition)]

    def spread_blocks(self, blocks: Iterable[str]) -> tuple[str, ...]:
        """Return the blocks cut to the run seeds that count in the spread over partitions."""
        kept = (tuple(s for s in seed_block(block) if s < self.partition_run_seeds) for block in blocks)
        return tuple(block_name(seeds) for seeds in kept if seeds)

    def planned(self, blocks: Iterable[str]) -> list[tuple[RunName, tuple[str, ...]]]:
        """Return every run the table needs and the seed blocks trained of it, given the suite's blocks."""
        own = tuple(blocks)
        few = self.spread_blocks(own)
        others = [(other, few) for run in self.runs() for other in self.other_partitions(run)]
        return [*((run, own) for run in self.runs()), *others]

    def files(self) -> list[tuple[str, str]]:
        """Return the (data set, partition) pairs that the table's runs, or its readings, are made from."""
        return [
            (dataset, name)
            for dataset in self.datasets
            for partition in self.partitions
            for name in (partition, *self.partitions_like(partition))
        ]


def _faults(table: TableFile) -> list[tuple[str, bool]]:
    of_runs = table.kind != "noniid"
    keys = [metric.key for metric in table.metrics]
    seeded = any(re.search(r"-s\d+$", name) for name in table.partitions)
    return [
        ("`protocol` and `rows` must be given", of_runs and not (table.protocol and table.rows)),
        ("`readings` must be given, and no `rows`", not of_runs and (not table.readings or bool(table.rows))),
        ("`further` needs the kind figure", bool(table.further) and table.kind != "figure"),
        ("each figure of `metric` and `further` may be given once", len(set(keys)) < len(keys)),
        ("`baseline` must name one of the rows", table.kind == "paired" and table.baseline_row is None),
        ("`baseline` needs the kind paired", table.kind != "paired" and table.baseline is not None),
        ("`partition_seeds` needs the kind figure", table.partition_seeds > 1 and table.kind != "figure"),
        ("`partition_seeds` needs partitions without a seed of their own", table.partition_seeds > 1 and seeded),
    ]


def load_table(name: str, configs: Path) -> TableFile:
    """Read ``configs/tables/<name>.yaml``."""
    path = configs / "tables" / f"{name}.yaml"
    return parse(TableFile, read_yaml(path), str(path))
