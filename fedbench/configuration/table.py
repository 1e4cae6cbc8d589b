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

Kind = Literal["figure", "communication", "seconds", "paired", "noniid", "clients", "fairness", "rounds"]


class TableFile(Settings):
    """``configs/tables/<paper>-<table>.yaml``."""

    title: str
    caption: str
    kind: Kind = Field(
        "figure",
        description="figure (formerly accuracy): `metric` of the records; communication, seconds: costs of the "
        "headers; paired: `metric` minus the baseline's, seed by seed; noniid: `readings` of partitions, no records; "
        "clients: mean and deviation of `metric` over clients; fairness: its worst client and Jain's index; "
        "rounds: CPU time a round, and as multiples of the baseline's",
    )
    measured: bool = Field(False, description="true: holds clock readings, so two runs differ")
    protocol: str = ""
    datasets: tuple[str, ...] = Field(min_length=1)
    partitions: tuple[str, ...] = Field((), description="of every data set that `partition_of` doesn't name")
    partition_of: dict[str, str] = Field({}, description="the one partition of a data set")
    partition_seeds: int = Field(1, ge=1, description="seeds 0 .. n-1 of each partition, for the spread over them")
    partition_run_seeds: int = Field(1, ge=1, description="run seeds 0 .. n-1 that count in the spread over partitions")
    metric: Metric = Metric()
    further: tuple[Metric, ...] = Field((), description="kind figure: further figures, printed beside `metric`")
    published: tuple[Published, ...] = Field((), description="one source, or several in order of preference")
    reproduced_within: float = Field(0.5, gt=0, description="points; inside it a cell counts as reproduced")
    rows: tuple[Row, ...] = ()
    floor: str | None = Field(None, description="the row that is printed last and not ranked, such as `majority`")
    weights: str | None = Field(
        None, description="kinds clients, fairness: weights over clients (split none); did they ever leave 1 / clients?"
    )
    baseline: str | None = Field(None, description="kinds paired, rounds: the row that others are set against")
    readings: tuple[Reading, ...] = Field((), description="kind noniid: its rows")
    sweep: tuple[Sweep, ...] = Field((), description="axis of the figure `sweep`, or several, a panel each")
    grid: Grid | None = Field(None, description="axes of the figure `grid`")
    spectra: int | None = Field(None, ge=1, description="eigenvalues a client in the figure `spectra`")
    diagnostics: tuple[str, ...] = Field((), description="metrics (split none) that explain a run, kept in bundles")

    @field_validator("kind", mode="before")
    @classmethod
    def _former_name(cls, value: Any) -> Any:
        return "figure" if value == "accuracy" else value

    @field_validator("published", "sweep", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return () if value is None else (value,) if isinstance(value, dict | Published | Sweep) else value

    @model_validator(mode="after")
    def _complete(self) -> TableFile:
        wrong = faults(self)
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
    def chooses_rounds(self) -> bool:
        """Whether one metric chooses the round for all figures, so that a reader wants to know which it was."""
        return self.kind == "figure" and any(metric.chosen_by for metric in self.metrics)

    @property
    def baseline_row(self) -> Row | None:
        """Return the row that others are set against: subtracted, or divided by."""
        return self._row(self.baseline)

    @property
    def floor_row(self) -> Row | None:
        """Return the row that is printed last and not ranked."""
        return self._row(self.floor)

    def _row(self, name: str | None) -> Row | None:
        return next((row for row in self.rows if row.name in {name, f"{name}/default"}), None)

    @property
    def printed_rows(self) -> tuple[Row, ...]:
        """Return the rows that are printed: all but a baseline that is subtracted, the floor last; or one a reading."""
        if self.kind == "noniid":
            return tuple(Row(method=reading.name, published=reading.published) for reading in self.readings)
        floor, subtracted = self.floor_row, self.baseline_row if self.kind == "paired" else None
        shown = tuple(row for row in self.rows if row not in (subtracted, floor))
        return (*shown, floor) if floor else shown

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Return the columns, (data set, partition) each."""
        return tuple((dataset, name) for dataset in self.datasets for name in self.partitions_in(dataset))

    def partitions_in(self, dataset: str) -> tuple[str, ...]:
        """Return the partitions that a data set has columns for."""
        own = self.partition_of.get(dataset)
        return (own,) if own else self.partitions

    def row_runs(self) -> list[tuple[Row, RunName]]:
        """Return every run that fills a cell with its row, in reading order."""
        return [(row, self._run(row, *column)) for row in self.rows for column in self.columns]

    def _run(self, row: Row, dataset: str, partition: str) -> RunName:
        where = {"protocol": self.protocol, "dataset": dataset, "partition": partition}
        return RunName(**where, method=row.method, variant=row.variant_in(dataset))

    def runs(self) -> list[RunName]:
        """Return every run that fills a cell, in reading order; none for a table of partitions."""
        return [run for _, run in self.row_runs()]

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
            for dataset, partition in self.columns
            for name in (partition, *self.partitions_like(partition))
        ]


def faults(table: TableFile) -> list[str]:
    """Return what is wrong with a table's keys taken together; nothing if it is whole."""
    return [text for text, found in _checked(table) if found]


def _checked(table: TableFile) -> list[tuple[str, bool]]:
    of_runs = table.kind != "noniid"
    keys = [metric.key for metric in table.metrics]
    seeded = any(re.search(r"-s\d+$", name) for _, name in table.columns)
    against = table.kind in ("paired", "rounds")
    over_clients = table.kind in ("clients", "fairness")
    without = [name for name in table.datasets if not table.partitions_in(name)]
    names = [(row.method, variant) for row in table.rows for variant in row.variants]
    return [
        ("`protocol` and `rows` must be given", of_runs and not (table.protocol and table.rows)),
        ("`readings` must be given, and no `rows`", not of_runs and (not table.readings or bool(table.rows))),
        ("`further` needs the kind figure", bool(table.further) and table.kind != "figure"),
        ("each figure of `metric` and `further` may be given once", len(set(keys)) < len(keys)),
        (f"no partition of {', '.join(without)}: give `partitions`, or `partition_of` it", bool(without)),
        ("`floor` must name one of the rows", table.floor is not None and table.floor_row is None),
        ("a row, or a variant in `by_dataset`, is another row's too", len(set(names)) < len(names)),
        ("`metric.select` must be last_rounds", over_clients and table.metric.select != "last_rounds"),
        ("`weights` needs the kind clients or fairness", table.weights is not None and not over_clients),
        ("`baseline` must name one of the rows", against and table.baseline_row is None),
        ("`baseline` needs the kind paired or rounds", not against and table.baseline is not None),
        ("`partition_seeds` needs the kind figure", table.partition_seeds > 1 and table.kind != "figure"),
        ("`partition_seeds` needs partitions without a seed of their own", table.partition_seeds > 1 and seeded),
    ]


def load_table(name: str, configs: Path) -> TableFile:
    """Read ``configs/tables/<name>.yaml``."""
    path = configs / "tables" / f"{name}.yaml"
    return parse(TableFile, read_yaml(path), str(path))
