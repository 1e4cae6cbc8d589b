"""The plan of a suite: per table, jobs in all, jobs whose record exists, and CPU seconds still to spend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from fedbench.configuration.suite import Suite
from fedbench.planning.estimate import Estimate, Estimator
from fedbench.planning.jobs import Job, jobs_of_table
from fedbench.planning.past import PastRun
from fedbench.settings import Settings


class Share(Settings):
    """Jobs of one table, or of the whole suite."""

    name: str
    jobs: tuple[Job, ...]
    done: int
    estimates: tuple[Estimate, ...]

    @property
    def seconds(self) -> float:
        """CPU seconds of the jobs to run, as far as past records tell."""
        return sum(guess.seconds or 0.0 for guess in self.estimates)

    @property
    def unknown(self) -> int:
        """Jobs to run that no past record resembles."""
        return sum(guess.seconds is None for guess in self.estimates)

    @property
    def bases(self) -> Counter[str]:
        """Count how many estimates rest on which likeness to past runs."""
        return Counter(guess.basis for guess in self.estimates if guess.basis)

    def wall_seconds(self, cores: int) -> float:
        """Return the shortest wall time on ``cores`` single-threaded jobs: the longest job, or the total shared out."""
        longest = max((guess.seconds or 0.0 for guess in self.estimates), default=0.0)
        return max(longest, self.seconds / cores)


class Plan(Settings):
    """Shares of the tables (a job that several tables use counts in each) and the total, where it counts once."""

    tables: tuple[Share, ...]
    total: Share


def plan_of(
    suite: Suite,
    configs: Path,
    records: Path,
    past: Sequence[PastRun],
    also: Iterable[str] = (),
    packed: Collection[str] = (),
) -> Plan:
    """Return the plan of a suite, given the records that exist, those ``packed``, and the costs of past runs."""
    also = tuple(also)
    jobs = {name: jobs_of_table(name, suite, configs, also) for name in suite.tables}
    every = list(dict.fromkeys(job for table in jobs.values() for job in table))
    to_run = [job for job in every if job.name not in packed and not job.is_done(records)]
    estimator = Estimator(past, configs)
    open_jobs = {job: estimator.of(job) for job in to_run}
    return Plan(
        tables=tuple(_share(name, table, open_jobs) for name, table in jobs.items()),
        total=_share("total", every, open_jobs),
    )


def _share(name: str, jobs: Sequence[Job], open_jobs: dict[Job, Estimate]) -> Share:
    guesses = tuple(open_jobs[job] for job in jobs if job in open_jobs)
    return Share(name=name, jobs=tuple(jobs), done=len(jobs) - len(guesses), estimates=guesses)
