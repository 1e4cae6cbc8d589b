"""How long a job will take, judged by past runs of the same kind.

A job's CPU seconds are the start-up plus, for each seed, the seconds per local epoch of a comparable past run times the
job's local epochs over all rounds. The most alike past runs of the task decide, and the answer says which they were:

1. the same method, data set and number of clients (of whatever variant, protocol and seeds);
2. the same method and data set, another number of clients;
3. the same method on other data sets, times what other methods take here against what they take there;
4. the same method on other data sets, times this one's size against theirs;
5. other methods on the same data set;
6. none: no estimate.

Of several past runs the median counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from fedbench.configuration.run import resolve
from fedbench.partition.name import parse_name
from fedbench.planning.jobs import Job
from fedbench.planning.past import PastRun, work_of
from fedbench.settings import Settings
from fedbench.sources.catalogue import load_entry

Ratio = Callable[[str, str], float | None]
"""What an epoch on a data set takes against one on another, as far as it can be told."""
Medians = dict[str, dict[str, float]]
"""Data set and method to the median of seconds per epoch."""


class Estimate(Settings):
    """CPU seconds of one job, and what past runs they rest on (None: no past record of any likeness)."""

    seconds: float | None
    basis: str = ""


class Estimator:
    """Estimates jobs by past runs.

    Args:
        past: what past runs cost.
        configs: configuration folder.
    """

    def __init__(self, past: Sequence[PastRun], configs: Path) -> None:
        self._past, self._configs = past, configs
        self._sizes: dict[str, float] = {}
        self._medians = {task: _medians([run for run in past if run.task == task]) for task in {r.task for r in past}}

    def of(self, job: Job) -> Estimate:
        """Return the CPU seconds a job will take."""
        training = resolve(job.run, self._configs).training
        basis, alike = next(((basis, runs) for basis, runs in self._alike(job, training.task) if runs), ("", []))
        if not alike:
            return Estimate(seconds=None)
        epochs = job.seeds * work_of(training.model_dump())
        seconds = median(run.startup_seconds for run in alike) + epochs * median(r.seconds_per_epoch for r in alike)
        return Estimate(seconds=seconds, basis=basis)

    def _alike(self, job: Job, task: str) -> Iterator[tuple[str, list[PastRun]]]:
        """Yield past runs that tell a job's cost, the most alike first, and in words what they have in common."""
        here, clients = job.run.dataset, parse_name(job.run.partition).clients
        same_method = [run for run in self._past if run.task == task and run.method == job.run.method]
        both = [run for run in same_method if run.dataset == here]
        yield "same method, dataset, clients", [run for run in both if run.clients == clients]
        yield "same method, dataset", both
        others = partial(_by_others, self._medians.get(task, {}))
        yield "same method on other data, by what others take", _moved(same_method, here, others)
        yield "same method on other data, by its size", _moved(same_method, here, self._by_size)
        yield "same dataset", [run for run in self._past if run.task == task and run.dataset == here]

    def _by_size(self, here: str, there: str) -> float | None:
        """Return how much larger a data set is than another by the catalogue, from which the other may be gone."""
        if not (self._configs / "datasets" / f"{there}.yaml").exists():
            return None
        return self._size(here) / self._size(there)

    def _size(self, dataset: str) -> float:
        if dataset not in self._sizes:
            self._sizes[dataset] = load_entry(dataset, self._configs).size
        return self._sizes[dataset]


def _moved(runs: Sequence[PastRun], here: str, ratio: Ratio) -> list[PastRun]:
    """Return what runs would have cost on the data set ``here``; without those for which that can't be told."""
    ratios = {there: ratio(here, there) for there in {run.dataset for run in runs}}
    return [
        run.model_copy(update={"seconds_per_epoch": run.seconds_per_epoch * times})
        for run in runs
        if (times := ratios[run.dataset]) is not None
    ]


def _by_others(medians: Medians, here: str, there: str) -> float | None:
    """Return what an epoch takes here against there, the median over the methods that ran on both."""
    ours, theirs = medians.get(here, {}), medians.get(there, {})
    found = [ours[method] / theirs[method] for method in ours.keys() & theirs.keys() if theirs[method]]
    return median(found) if found else None


def _medians(past: Sequence[PastRun]) -> Medians:
    found: Medians = {}
    for dataset, method in {(run.dataset, run.method) for run in past}:
        same = [run.seconds_per_epoch for run in past if (run.dataset, run.method) == (dataset, method)]
        found.setdefault(dataset, {})[method] = median(same)
    return found
