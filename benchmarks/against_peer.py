"""Round cost and accuracy of one method, ours and OpenFGL's, process after process in alternation."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from benchmarks import ours
from benchmarks.graphs import Problem, from_peer
from benchmarks.measure import alternate
from benchmarks.ours import Job, OwnRun
from benchmarks.peer.drive import PeerRun, installed
from benchmarks.place import Place
from benchmarks.result import Result, compare

CONDITIONS = "Cora (2708 nodes), 10 METIS clients, width 128, 100 rounds x 1 epoch, same partition, 1 thread, CPU"


@dataclass(frozen=True)
class Equal:
    """A method of ours set as OpenFGL's (see benchmarks/peer/README.md), and the ratio asked for."""

    method: str
    settings: dict[str, Any]
    training: dict[str, Any]
    target: str
    accuracy_seeds: int
    runs: int = 5
    same: dict[str, Any] = field(default_factory=lambda: {"rounds": 100, "weight_decay": 5e-4})

    def job(self, problem: Problem, out: str, *seeds: int) -> Job:
        training = self.same | self.training
        return Job(str(problem.dataset), str(problem.partition), self.method, out, seeds, self.settings, training)


FEDAVG = Equal("fedavg", {"weights": "nodes"}, {"model": {"readout": "convolution"}}, ">= 12", 20)
FEDPUB = Equal("fedpub", {"tau": 10.0, "penalties_act": False}, {}, ">= 6", 10)


def measure(equal: Equal, place: Place) -> list[Result]:
    """Run both sides ``equal.runs`` times, each time with another seed, and compare."""
    peer = installed(place)
    problem = from_peer(peer.partition, place.folder("peer-cora"))
    out = str(place.folder("ours") / f"{equal.method}.json")
    seeds = {"ours": count(), "peer": count()}
    runs = alternate(
        {
            "ours": lambda: ours.run(equal.job(problem, out, next(seeds["ours"]))),
            "peer": lambda: peer.run(equal.method, next(seeds["peer"])),
        },
        equal.runs,
    )
    more_seeds = ours.run(equal.job(problem, out, *range(equal.accuracy_seeds))).figures["seeds"]
    theirs = [run.figures for run in runs["peer"]]  # type: ignore[attr-defined]
    name = f"{equal.method} vs OpenFGL"
    return costs(equal, name, runs["ours"], runs["peer"]) + accuracy(name, more_seeds, theirs)  # type: ignore[arg-type]


def costs(equal: Equal, name: str, own: Sequence[OwnRun], peer: Sequence[PeerRun]) -> list[Result]:
    mine = [run.figures["seeds"][0] for run in own]
    theirs = [run.figures for run in peer]
    return [
        *compare(
            f"{name}: round with evaluation",
            [value for run in mine for value in run["round_ms"]],
            [value for run in theirs for value in run["round_ms"][1:]],
            target=equal.target,
            unit="CPU ms",
            conditions=f"{CONDITIONS}; {equal.runs} processes each, in turn, 99 rounds of each",
        ),
        Result(
            f"{name}: peak memory",
            max(run.usage.peak_mb for run in own),
            max(run.usage.peak_mb for run in peer),
            unit="MB",
            conditions=CONDITIONS,
        ),
    ]


def accuracy(name: str, mine: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]]) -> list[Result]:
    """Return the mean test accuracies over the runs' seeds; they must agree within two standard errors."""
    rows = []
    for key, label in (("test_at_best_validation", "best validation round"), ("test_last", "last round")):
        ours_, other = [run[key] for run in mine], [run[key] for run in theirs]
        error = (_variance(ours_) / len(ours_) + _variance(other) / len(other)) ** 0.5
        gap = statistics.mean(ours_) - statistics.mean(other)
        verdict = f"difference {gap:+.4f}, standard error {error:.4f}, {len(ours_)} and {len(other)} seeds"
        rows.append(
            Result(
                f"{name}: test accuracy at the {label}",
                statistics.mean(ours_),
                statistics.mean(other),
                "equal within 2 standard errors",
                "share",
                f"{CONDITIONS}; {verdict}",
            )
        )
    return rows


def _variance(values: Sequence[float]) -> float:
    return statistics.variance(values) if len(values) > 1 else 0.0
