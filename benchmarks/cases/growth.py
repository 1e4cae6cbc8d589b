"""Growth of time and memory a round: against the number of clients, and against nodes per client; with a plot."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from benchmarks import ours
from benchmarks.graphs import Problem, synthetic
from benchmarks.growth_plot import draw
from benchmarks.ours import Job
from benchmarks.place import Place
from benchmarks.result import Result

METHODS = ("fedavg", "fedpub", "fedaux")
CLIENTS, NODES = (5, 10, 20, 50, 100), (1_000, 3_000, 10_000, 30_000, 100_000)
NODES_AT_GROWING_CLIENTS, CLIENTS_AT_GROWING_NODES = 250, 5
ROUNDS = 5


@dataclass(frozen=True)
class Point:
    """One measured size."""

    method: str
    axis: str
    size: int
    round_ms: float
    peak_mb: float


def run(place: Place) -> list[Result]:
    points = [point for axis, size in sizes() for point in measure(place, axis, size)]
    file = place.folder("growth") / "points.json"
    file.write_text(json.dumps([vars(point) for point in points], indent=1), encoding="utf-8")
    draw(points, place.figures)
    return [row for axis in ("clients", "nodes per client") for method in METHODS for row in rows(points, method, axis)]


def sizes() -> list[tuple[str, int]]:
    return [("clients", k) for k in CLIENTS] + [("nodes per client", n) for n in NODES]


def measure(place: Place, axis: str, size: int) -> list[Point]:
    """Measure all methods at one size, on the same graphs."""
    clients, nodes = (size, NODES_AT_GROWING_CLIENTS) if axis == "clients" else (CLIENTS_AT_GROWING_NODES, size)
    problem = synthetic(place.folder("growth"), clients, nodes)
    points = [train_on(problem, method, axis, size) for method in METHODS]
    problem.remove()
    return points


def train_on(problem: Problem, method: str, axis: str, size: int) -> Point:
    """Train a few rounds in a process of its own: its fastest round, its largest resident set."""
    out = problem.dataset.with_suffix(".json")
    job = Job(str(problem.dataset), str(problem.partition), method, str(out), training={"rounds": ROUNDS})
    figures = ours.run(job).figures
    return Point(method, axis, size, figures["seeds"][0]["round_ms_min"], figures["peak_mb"])


def rows(points: list[Point], method: str, axis: str) -> list[Result]:
    """Return the exponents of time and memory in the size, and all points."""
    series = [point for point in points if (point.method, point.axis) == (method, axis)]
    fixed = f"{NODES_AT_GROWING_CLIENTS} nodes" if axis == "clients" else f"{CLIENTS_AT_GROWING_NODES} clients"
    listed = ", ".join(f"{point.size}: {point.round_ms:.1f} ms {point.peak_mb:.0f} MB" for point in series)
    conditions = f"synthetic graphs, {fixed}, degree 4, 1433 features; {axis} {listed}"
    return [
        Result(
            f"growth of {method} with {axis}: {label}", exponent(series, key), unit="exponent", conditions=conditions
        )
        for label, key in (("time a round", "round_ms"), ("peak memory", "peak_mb"))
    ]


def exponent(series: list[Point], figure: str) -> float:
    """Return the slope of log(figure) against log(size) over the three largest sizes; 1 is proportional growth."""
    largest = series[-3:]
    values = [getattr(point, figure) for point in largest]
    return float(np.polyfit(np.log([point.size for point in largest]), np.log(values), 1)[0])
