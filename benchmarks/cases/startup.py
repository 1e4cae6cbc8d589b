"""Start-up of a training job: CPU seconds from process start to the first round, and what it imports."""

from __future__ import annotations

import sys
from statistics import median

from benchmarks.graphs import synthetic
from benchmarks.measure import run_process
from benchmarks.place import Place
from benchmarks.result import Result
from benchmarks.training_job import TrainingJob

REPEATS = 5
WATCHED = ("torch_geometric", "ogb", "torch._dynamo", "pandas", "scipy", "sklearn", "matplotlib", "sympy", "snakemake")
REPORT = """
import atexit, json, pathlib, runpy, sys
file = pathlib.Path(sys.argv.pop(1))
atexit.register(lambda: file.write_text("\\n".join(sorted(sys.modules))))
runpy.run_module("fedbench.cli", run_name="__main__")
"""


def run(place: Place) -> list[Result]:
    problem = synthetic(place.folder("startup"), clients=5, nodes=200)
    job = TrainingJob(problem, "fedavg", place.folder("startup"), {}, {"rounds": 1})
    seconds = [startup(job) for _ in range(REPEATS)]
    torch = [run_process([sys.executable, "-c", "import torch"]).cpu_s for _ in range(REPEATS)]
    loaded = modules(job, place)
    return [
        Result(
            "start-up of a training job",
            median(seconds),
            target="<= 2.5",
            unit="CPU s",
            conditions=f"process start to first round, median of {REPEATS}; import torch alone {median(torch):.2f}; "
            f"{len(loaded)} modules; {watched(loaded)}",
        )
    ]


def startup(job: TrainingJob) -> float:
    job.run("0-0")
    return float(job.header()["startup_seconds"])


def modules(job: TrainingJob, place: Place) -> set[str]:
    """Return the names of all modules that a training job has imported when it ends."""
    file = place.folder("startup") / "modules.txt"
    job.run("0-0", ("-c", REPORT, str(file)))
    return set(file.read_text(encoding="utf-8").split())


def watched(loaded: set[str]) -> str:
    """Say which of the heavy packages are among the imported modules."""
    found = [name for name in WATCHED if name in loaded]
    return f"imported: {', '.join(found) or 'none'} of {', '.join(WATCHED)}"
