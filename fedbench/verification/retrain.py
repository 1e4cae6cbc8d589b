"""Retrain a random sample of records and compare: do the stored figures come out again?"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedbench import seeds
from fedbench.configuration.run import RunName, block_name
from fedbench.errors import RecordError
from fedbench.records.check import program_of, run_of
from fedbench.records.pack import Entry, Records
from fedbench.records.store import Record, read_record
from fedbench.verification.compare import Comparison, compare

Trainer = Callable[[RunName, tuple[int, ...]], Record]


@dataclass(frozen=True)
class Retrained:
    """One run and seed, and how the new figures compare with the stored ones."""

    entry: Entry
    seed: int
    comparison: Comparison


def engine_trainer(configs: Path, results: Path, device: str) -> Trainer:
    """Return the ordinary training entry point, as a function of run and seeds."""
    from fedbench.engine.job import Job, train

    def again(run: RunName, chosen: tuple[int, ...]) -> Record:
        return train(Job(run, chosen, configs, *_files(run, results), device))

    return again


def checkout_trainer(checkout: Path, results: Path, device: str) -> Trainer:
    """Return the training of another checkout (absolute path) of this package, with its own configuration, likewise."""

    def again(run: RunName, chosen: tuple[int, ...]) -> Record:
        dataset_file, partition_file = _files(run, results)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "seeds.parquet")
            names = {**run.model_dump(exclude={"method"}), "seeds": block_name(chosen), "device": device}
            places = {"dataset-file": dataset_file, "partition-file": partition_file, "configs": checkout / "configs"}
            named = {**names, **places, "out": out}
            options = [str(word) for name, value in named.items() for word in (f"--{name}", value)]
            environment = {**os.environ, "PYTHONPATH": str(checkout)}
            command = [sys.executable, "-m", "fedbench.cli", "train", run.method, *options]
            subprocess.run(command, cwd=checkout, env=environment, check=True, stderr=subprocess.DEVNULL)
            return read_record(out)

    return again


def _files(run: RunName, results: Path) -> tuple[Path, Path]:
    """Return the data set file and the partition file of a run."""
    partition = results / "partitions" / run.dataset / f"{run.partition}.npz"
    return results / "datasets" / f"{run.dataset}.npz", partition


def draw(entries: Sequence[Entry], count: int, seed: int) -> list[tuple[Entry, int]]:
    """Return ``count`` (record, seed) pairs drawn without replacement; all if there are fewer.

    Records of outside programs are left out: this package can't run them.

    Raises:
        RecordError: there is nothing to draw from.
    """
    own = [entry for entry in entries if not program_of(entry.record.header)]
    pairs = [(entry, number) for entry in own for number in entry.record.header.seeds]
    if not pairs:
        raise RecordError("draw records to retrain", found="no record made by this package", remedy="train first")
    order = seeds.generator("verify", seed).permutation(len(pairs))[:count]
    return [pairs[place] for place in order]


def sample(records: Records, count: int, seed: int) -> list[tuple[Entry, int]]:
    """Return the (record, seed) pairs that `retrain` trains again."""
    return draw([entry for entry in map(records.get, records.names()) if entry], count, seed)


def partition_files(drawn: Sequence[tuple[Entry, int]], results: Path) -> list[Path]:
    """Return the partition files that a sample is trained on, each once, in order."""
    runs = [run_of(entry.record.header) for entry, _ in drawn]
    return list(dict.fromkeys(_files(run, results)[1] for run in runs))


def retrain(records: Records, train: Trainer, count: int, seed: int) -> Iterator[Retrained]:
    """Retrain a sample, one (record, seed) after another, and yield each comparison."""
    for entry, number in sample(records, count, seed):
        new = train(run_of(entry.record.header), (number,))
        yield Retrained(entry, number, compare(entry.record.table, new.table, number))
