"""Ranking all of Gowalla, cutting it into clients, and its lowest frequencies: seconds and memory of a process each."""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks.graphs import gowalla
from benchmarks.measure import run_process
from benchmarks.place import ROOT, Place
from benchmarks.result import Result

REPEATS = 3
TWO_THREADS = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}


def run(place: Place) -> list[Result]:
    ranking = best("ranking", place, "cpu_s", {})
    clustering = best("clustering", place, "wall_s", TWO_THREADS)
    vectors = best("vectors", place, "wall_s", TWO_THREADS)
    users = f"29,858 users x 40,981 items, width 64, random tables, 1 thread, fastest of {REPEATS}"
    lists = f"lists as by sorting everything for {ranking['identical']} of {ranking['sampled']} users"
    two = f"2 threads, wall time, fastest of {REPEATS}; CPU"
    return [
        Result("full ranking of Gowalla", ranking["cpu_s"], None, "< 5", "CPU s", f"{users}; {lists}"),
        Result("full ranking of Gowalla: peak memory", ranking["peak_mb"], None, "< 1000", "MB", users),
        Result(
            "co-clustering of Gowalla, K = 4",
            clustering["wall_s"],
            None,
            "< 6",
            "s",
            f"{two} {clustering['cpu_s']:.1f} s; from pairs in memory to a checked partition",
        ),
        Result(
            "128 singular vectors of Gowalla", vectors["wall_s"], None, "< 10", "s", f"{two} {vectors['cpu_s']:.1f} s"
        ),
    ]


def best(job: str, place: Place, by: str, environment: dict[str, str]) -> dict[str, Any]:
    """Return the fastest of several processes."""
    files, out = gowalla(place.folder("gowalla")), place.folder("gowalla") / f"{job}.json"
    command = [sys.executable, "-m", "benchmarks.gowalla_job", job, files.dataset, files.partition, out]
    found = []
    for _ in range(REPEATS):
        run_process(command, {"PYTHONPATH": str(ROOT), **environment})
        found.append(json.loads(out.read_text(encoding="utf-8")))
    return min(found, key=lambda figures: float(figures[by]))
