"""One training process of ours that times its rounds, the counterpart of `peer/run_openfgl.py`.

`python -m benchmarks.ours <job.json>`; the job file is a `Job`. Peak memory and seconds as in the peer's process.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.measure import Usage, run_process
from benchmarks.place import ROOT


@dataclass(frozen=True)
class Job:
    """What to train on what, and where to write the figures."""

    dataset: str
    partition: str
    method: str
    out: str
    seeds: tuple[int, ...] = (0,)
    settings: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OwnRun:
    """One process of ours: its figures and what the process cost as seen from outside."""

    figures: dict[str, Any]
    usage: Usage


def run(job: Job) -> OwnRun:
    """Train in a process of its own, like the peer."""
    out = Path(job.out)
    file = out.with_suffix(".job.json")
    file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    usage = run_process([sys.executable, "-m", "benchmarks.ours", file], {"PYTHONPATH": str(ROOT)})
    return OwnRun(json.loads(out.read_text(encoding="utf-8")), usage)


def train(job: Job) -> list[dict[str, Any]]:
    """Run the engine and return the figures of each seed, one seed after another as a training job does on a CPU."""
    from fedbench.configuration.protocol import TrainingSettings
    from fedbench.engine.job import use_one_thread
    from fedbench.methods.registry import build
    from fedbench.settings import parse
    from fedbench.tasks.node.arrays import load_problem

    use_one_thread()
    method = build(job.method, job.settings, parse(TrainingSettings, job.training, "the benchmark"))
    problem = load_problem(Path(job.dataset), Path(job.partition))
    return [_seed(method, problem, seed) for seed in job.seeds]


def _seed(method: Any, problem: Any, seed: int) -> dict[str, Any]:
    """Train one seed. Rounds are timed from the second on: the first one's start isn't marked."""
    from fedbench.engine import run as engine
    from fedbench.tasks.task import Place

    ends: list[float] = []
    start = time.process_time()
    outcome = engine.run(method, problem, (seed,), Place(), lambda *_: ends.append(time.process_time()))
    rounds = [1000 * (end - begin) for begin, end in pairwise(ends)]
    return accuracies(outcome.history, problem.nodes_per_client) | {
        "round_ms": rounds,
        "round_ms_median": statistics.median(rounds),
        "round_ms_min": min(rounds),
        "train_s": time.process_time() - start,
        "training_seconds": outcome.training_seconds,
        "evaluation_seconds": outcome.evaluation_seconds,
    }


def accuracies(history: Any, nodes: Any) -> dict[str, float]:
    """Return the test accuracy at the best validation round and at the last, clients weighted by nodes as OpenFGL's."""
    curves = {
        split: [
            float(values @ nodes / nodes.sum()) for _, s, m, values in history.entries if (s, m) == (split, "accuracy")
        ]
        for split in ("val", "test")
    }
    best = max(range(len(curves["val"])), key=curves["val"].__getitem__)
    return {"test_at_best_validation": curves["test"][best], "test_last": curves["test"][-1]}


def main() -> None:
    job = Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    figures = {
        "seeds": train(job),
        "process_s": time.process_time(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    Path(job.out).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
