"""How long a job will take, judged by past runs of the same kind.

A job's CPU seconds are the start-up plus, for each seed, the seconds per local epoch of a comparable past run times the
job's local epochs over all rounds. The most alike past runs decide, and the answer says which they were:

1. the same method, data set and number of clients (of whatever variant, protocol and seeds);
2. the same method and data set, another number of clients;
3. the same data set and number of clients, other methods;
4. the same data set;
5. the same method, on other data;
6. none: no estimate.

Of several past runs the median counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from fedbench.configuration.run import resolve
from fedbench.partition.name import parse_name
from fedbench.planning.jobs import Job
from fedbench.planning.past import PastRun, work_of
from fedbench.settings import Settings

LIKENESS: tuple[tuple[str, ...], ...] = (
    ("method", "dataset", "clients"),
    ("method", "dataset"),
    ("dataset", "clients"),
    ("dataset",),
    ("method",),
)


class Estimate(Settings):
    """CPU seconds of one job, and what past runs they rest on (None: no past record of any likeness)."""

    seconds: float | None
    basis: tuple[str, ...] = ()


def estimate(job: Job, past: Sequence[PastRun], configs: Path) -> Estimate:
    """Return the CPU seconds a job will take."""
    training = resolve(job.run, configs).training
    asked = {"method": job.run.method, "dataset": job.run.dataset, "clients": parse_name(job.run.partition).clients}
    for basis in LIKENESS:
        alike = [run for run in past if all(getattr(run, name) == asked[name] for name in basis)]
        if alike:
            epochs = job.seeds * work_of(training.model_dump())
            seconds = median(run.startup_seconds for run in alike) + epochs * median(r.seconds_per_epoch for r in alike)
            return Estimate(seconds=seconds, basis=basis)
    return Estimate(seconds=None)
