"""A training job: one block of seeds of one cell, from files to a run record."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch

from fedbench.configuration.method import label_of, require_task
from fedbench.configuration.run import RunName, RunSettings, resolve
from fedbench.engine.progress import log_progress
from fedbench.engine.resume import FinishedSeeds
from fedbench.engine.run import Outcome, run
from fedbench.errors import DataError
from fedbench.files import read_arrays, sha256_of
from fedbench.kernels.allocator import keep_freed_memory
from fedbench.methods.base import Method
from fedbench.methods.registry import build, require_method
from fedbench.partition.name import PartitionName
from fedbench.provenance import code_digest, versions
from fedbench.records.schema import Digests, RunHeader, SeedCost
from fedbench.records.store import Record, require_parquet, table_of, write_record
from fedbench.settings import digest_of
from fedbench.tasks.task import Place, Problem, Task, task_named


@dataclass(frozen=True)
class Job:
    """What to train and from which files.

    Args:
        name: protocol, data set, partition, method, variant.
        seeds: run seeds, trained one after another on a CPU; at once on a GPU, unless clients' widths differ and the
            task can't pad them.
        configs: the ``configs`` folder.
        dataset_file: data set file.
        partition_file: partition file.
        device: ``cpu`` or ``cuda``.
        state: folder in which finished seeds and checkpoints survive a killed job, or None.
    """

    name: RunName
    seeds: tuple[int, ...]
    configs: Path
    dataset_file: Path
    partition_file: Path
    device: str = "cpu"
    state: Path | None = None


def train(job: Job) -> Record:
    """Train a job and return its record; seeds finished by an earlier, killed attempt are not trained again.

    Raises:
        ConfigurationError: unknown names or settings.
        DataError: a file is missing, damaged or doesn't fit.
        TrainingError: a loss is not finite; earlier seeds stay in ``job.state``.
    """
    use_one_thread()
    require_method(job.name.method)
    settings = resolve(job.name, job.configs)
    require_task(job.name.method, settings.training.task, job.configs)
    require_named(job)
    method = build(job.name.method, settings.method, settings.training)
    finished = FinishedSeeds(job.state, digests_of(job, settings), job.device)
    task = task_named(settings.training.task)
    problem = task.load(job.dataset_file, job.partition_file)
    startup = time.process_time()
    for seeds in _waiting(job, finished, problem, task):
        started = time.perf_counter(), time.process_time()
        progress = log_progress(job.name, seeds, method.training.rounds)
        checkpoints = finished.checkpoints(seeds)
        outcome = run(method, problem, seeds, _place(job), progress, checkpoints)
        _keep(finished, outcome, seeds, started)
        if checkpoints:
            checkpoints.forget()
    return assemble(job, settings, problem, method, finished, startup)


def train_to(job: Job, out: Path) -> None:
    """Train a job, write its record to ``out``, and forget the finished seeds kept for a second attempt.

    Raises:
        RecordError: ``out`` is no ``.parquet``.
    """
    require_parquet(out)
    record = train(job)
    write_record(out, record)
    FinishedSeeds(job.state, record.header.digests, job.device).forget(job.seeds)


def require_named(job: Job) -> None:
    """Refuse a partition file that is another than the job's name says: its record would lie.

    Raises:
        DataError: names both.
    """
    _, cut = read_arrays(job.partition_file)
    found = cut["dataset"], str(PartitionName(cut["scheme"], cut["clients"], cut["seed"]))
    if found != (job.name.dataset, job.name.partition):
        raise DataError(
            f"train on {job.name.dataset}/{job.name.partition}",
            found=f"{job.partition_file} is {'/'.join(found)}",
            allowed="the partition that the record will name",
            remedy="correct --dataset and --partition, or give the other file",
        )


def use_one_thread() -> None:
    """One thread a job: two jobs on two cores beat one job on two threads, and sums keep their order.

    In that thread numbers below 1e-38 are 0. Weight decay takes the weights of dead units there, and a product with
    such numbers is a hundred times slower (``docs/benchmarks.md``).
    """
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    keep_freed_memory()


def digests_of(job: Job, settings: RunSettings) -> Digests:
    """Return the digests of everything the job depends on."""
    return Digests(
        settings=digest_of(settings.model_dump(mode="json")),
        dataset=sha256_of(job.dataset_file),
        partition=sha256_of(job.partition_file),
        code=code_digest(job.name.method, settings.training.task),
    )


def _waiting(job: Job, finished: FinishedSeeds, problem: Problem, task: Task) -> Iterator[tuple[int, ...]]:
    """Yield the seeds still to train, in the groups that are computed at once: all on a GPU, if they make one stack."""
    waiting = tuple(seed for seed in job.seeds if not finished.has(seed))
    if job.device == "cpu" or (len(set(problem.shapes)) > 1 and not task.pads_widths):
        yield from ((seed,) for seed in waiting)
    elif waiting:
        yield waiting


def _place(job: Job) -> Place:
    return Place(torch.float32, torch.device(job.device))


def _keep(finished: FinishedSeeds, outcome: Outcome, seeds: tuple[int, ...], started: tuple[float, float]) -> None:
    """Store each seed's table and its share of the costs."""
    earlier = outcome.earlier_seconds
    wall, total = time.perf_counter() - started[0] + earlier[0], time.process_time() - started[1] + earlier[1]
    for place, seed in enumerate(seeds):
        cost = SeedCost(
            seed=seed,
            steps=max(outcome.steps[place]),
            steps_of_all=sum(outcome.steps[place]),
            parameters=outcome.parameters,
            bytes_up=outcome.bytes_up,
            bytes_down=outcome.bytes_down,
            training_seconds=round(outcome.training_seconds / len(seeds), 4),
            evaluation_seconds=round(outcome.evaluation_seconds / len(seeds), 4),
            total_seconds=round(total / len(seeds), 4),
            wall_seconds=round(wall / len(seeds), 4),
        )
        finished.add(seed, table_of(outcome.history.columns(seed)), cost, diagnostics(outcome, seed))


def diagnostics(outcome: Outcome, seed: int) -> dict[str, Any]:
    """Return what explains a seed's figures: W in the first, middle and last round (6 digits), and the preparation."""
    place = outcome.cell.seeds.index(seed)
    mixing = {
        str(number): [[round(value, 6) for value in row] for row in weights[place].tolist()]
        for number, weights in outcome.mixing.items()
    }
    preparation = {"preparation": outcome.preparation[place]} if outcome.preparation else {}
    return ({"mixing": mixing} if mixing else {}) | preparation


def assemble(
    job: Job, settings: RunSettings, problem: Problem, method: Method[Any], finished: FinishedSeeds, startup: float
) -> Record:
    """Return the record of all seeds of a job."""
    parts = [finished.get(seed) for seed in job.seeds]
    header = RunHeader(
        task=method.training.task,
        protocol=job.name.protocol,
        dataset=job.name.dataset,
        partition=job.name.partition,
        clients=problem.clients,
        method=job.name.method,
        variant=job.name.variant,
        label=label_of(job.name.method, job.name.variant, job.configs),
        seeds=job.seeds,
        settings=settings.model_dump(mode="json"),
        digests=finished.digests,
        versions=versions(),
        device=device_name(job.device),
        peak_memory_mb=round(peak_memory_mb(), 1),
        startup_seconds=round(startup, 3),
        costs=tuple(part.cost for part in parts),
        diagnostics={str(part.cost.seed): part.diagnostics for part in parts if part.diagnostics},
    )
    return Record(header, pa.concat_tables([part.table for part in parts]))


def device_name(device: str) -> str:
    """Return ``cpu``, or the name of the GPU."""
    return device if device == "cpu" else torch.cuda.get_device_name()


def peak_memory_mb() -> float:
    """Return the largest resident set of this process, in MB."""
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
