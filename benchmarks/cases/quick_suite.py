"""The quick suite on two cores: wall time, and the share of it spent inside training steps (from record headers)."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import Usage, run_process
from benchmarks.place import ROOT, Place
from benchmarks.result import Result

SUITE, CORES = "quick", 2


def run(place: Place) -> list[Result]:
    """Train the whole suite into an empty folder; data sets and partitions are made first, as they need the network."""
    folder = place.folder("quick")
    snakemake(folder, "--until", "partition")
    shutil.rmtree(folder / "results" / "records", ignore_errors=True)
    usage = snakemake(folder)
    return rows(usage, headers(folder / "results" / "records"))


def snakemake(folder: Path, *options: str) -> Usage:
    """Run Snakemake as `make tables` does, in a folder of its own; `fedbench` is taken from this Python's scripts."""
    config = [f"suite={SUITE}", f"configs={ROOT / 'configs'}"]
    command = [sys.executable, "-m", "snakemake", "tables", "--cores", str(CORES), "--config", *config]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    places = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    return run_process([*command, *places, *options], {"PATH": path, "PYTHONPATH": str(ROOT)})


def headers(records: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(records.rglob("seeds-*.json"))]


def rows(usage: Usage, records: list[dict[str, Any]]) -> list[Result]:
    """Return the suite's wall time, and training seconds over the time that its cores were held."""
    costs = [cost for header in records for cost in header["costs"]]
    trained = sum(cost["training_seconds"] for cost in costs)
    evaluated = sum(cost["evaluation_seconds"] for cost in costs)
    started = sum(header["startup_seconds"] for header in records)
    conditions = (
        f"{CORES} cores, data sets and partitions made before, {len(records)} jobs, {len(costs)} runs; CPU s: "
        f"training {trained:.0f}, evaluation {evaluated:.0f}, start-up {started:.0f}, everything {usage.cpu_s:.0f}"
    )
    share = trained / (CORES * usage.wall_s)
    return [
        Result("quick suite: wall time", usage.wall_s / 60, None, "<= 10", "min", conditions),
        Result("quick suite: share inside training steps", share, None, ">= 0.6", "of 2 cores x wall time", conditions),
        Result(
            "quick suite: share inside training steps, CPU", trained / usage.cpu_s, None, "", "of CPU time", conditions
        ),
    ]
