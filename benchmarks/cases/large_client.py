"""FedAux's local step on one client of 33,000 nodes, width 128: time beside the plain GCN step, and memory."""

from __future__ import annotations

from typing import Any

from benchmarks import ours
from benchmarks.graphs import Problem, synthetic
from benchmarks.measure import alternate
from benchmarks.ours import Job
from benchmarks.place import Place
from benchmarks.result import Result

NODES, ROUNDS, REPEATS = 33_000, 6, 3
VARIANTS: dict[str, dict[str, Any]] = {
    "scores in [-1, 1]": {"score": "cosine", "apv_start": "uniform"},
    "the paper's scores": {"score": "inner_product", "apv_start": "normal"},
}


def run(place: Place) -> list[Result]:
    problem = synthetic(place.folder("large_client"), 1, NODES)
    sides = {"GCN": lambda: _trained(problem, "fedavg", {})} | {
        name: lambda own=own: _trained(problem, "fedaux", own) for name, own in VARIANTS.items()
    }
    measured = alternate(sides, REPEATS)
    problem.remove()
    return [row for name in VARIANTS for row in _rows(name, measured[name], measured["GCN"])]


def _trained(problem: Problem, method: str, settings: dict[str, Any]) -> dict[str, float]:
    """Train a few rounds in a process of its own: its fastest round, its largest resident set."""
    out = str(problem.dataset.with_suffix(".json"))
    training = {"rounds": ROUNDS, "model": {"width": 128}}
    figures = ours.run(Job(str(problem.dataset), str(problem.partition), method, out, (0,), settings, training)).figures
    seed = figures["seeds"][0]
    return {"round_ms": 1000 * seed["training_seconds"] / ROUNDS, "peak_mb": figures["peak_mb"]}


def _rows(name: str, found: list[dict[str, float]], plain: list[dict[str, float]]) -> list[Result]:
    ours_ms, plain_ms = (min(each["round_ms"] for each in side) for side in (found, plain))
    peak = max(each["peak_mb"] for each in found)
    conditions = (
        f"one client, {NODES:,} nodes, width 128, {name}, one step a round, least of {REPEATS}; GCN {plain_ms:.0f} ms"
    )
    return [
        Result(f"large client: FedAux step, {name}", ours_ms, target="", unit="ms", conditions=conditions),
        Result(
            f"large client: times the GCN step, {name}", ours_ms / plain_ms, target="3", unit="x", conditions=conditions
        ),
        Result(f"large client: peak memory, {name}", peak, target="1000", unit="MB", conditions=conditions),
    ]
