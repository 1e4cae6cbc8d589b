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
TIMED = f"1 thread, fastest of {REPEATS} processes, without imports and reading"


def run(place: Place) -> list[Result]:
    ranking, clustering, vectors = (best(job, place) for job in ("ranking", "clustering", "vectors"))
    users = f"29,858 users x 40,981 items, width 64, random tables; {TIMED}"
    lists = f"lists as by sorting everything for {ranking['identical']} of {ranking['sampled']} users"
    cut = f"from pairs in memory to a checked partition; {TIMED}"
    return [
        Result("full ranking of Gowalla", ranking["cpu_s"], None, "< 5", "CPU s", f"{users}; {lists}"),
        Result("full ranking of Gowalla: peak memory", ranking["peak_mb"], None, "< 1000", "MB", users),
        Result("co-clustering of Gowalla, K = 4", clustering["cpu_s"], None, "< 6", "CPU s", cut),
        Result("128 singular vectors of Gowalla", vectors["cpu_s"], None, "< 10", "CPU s", TIMED),
    ]


def best(job: str, place: Place) -> dict[str, Any]:
    """Return the fastest of several processes."""
    files, out = gowalla(place.folder("gowalla")), place.folder("gowalla") / f"{job}.json"
    command = [sys.executable, "-m", "benchmarks.gowalla_job", job, files.dataset, files.partition, out]
    found = []
    for _ in range(REPEATS):
        run_process(command, {"PYTHONPATH": str(ROOT)})
        found.append(json.loads(out.read_text(encoding="utf-8")))
    return min(found, key=lambda figures: float(figures["cpu_s"]))
