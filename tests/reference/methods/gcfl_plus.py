"""GCFL+: as GCFL, with a recursive time-warping distance between series of norms."""

from __future__ import annotations

from functools import lru_cache
from statistics import pstdev

from torch import Tensor

from tests.reference.federation import Seen
from tests.reference.methods.gcfl import cheapest_cut, disagree, start, thresholds, updates, within
from tests.reference.plans import Plan, Settings, Shape, everything, plain

TASKS = ("node", "graph")
OFTEN = {"burn_in": 2, "window": 3, "relative": True, "eps1": 2.0, "eps2": 0.1}
CASES = (OFTEN | {"weights": "train_nodes"}, OFTEN | {"series": "update_norm", "standardise": True})


def plan(settings: Settings, shape: Shape) -> Plan:
    clusters: list[list[int]] = []
    longest: list[float] = [0.0]
    series: list[list[float]] = []

    def combine(seen: Seen) -> Tensor:
        changes = updates(seen)
        start(clusters, seen)
        series.append(norms(settings, seen, changes))
        old = sorted(clusters)
        limits = thresholds(settings, old, changes, longest)
        clusters.clear()
        for cluster in old:
            due = seen.round > settings.burn_in and disagree(cluster, changes, limits)
            if due and len(series) >= settings.window:
                clusters.extend(cut(cluster, series[-settings.window :], settings.standardise))
                series.clear()
            else:
                clusters.append(cluster)
        return within(clusters, settings, seen)

    return Plan(plain, everything, combine_seen=combine)


def norms(settings: Settings, seen: Seen, changes: list[Tensor]) -> list[float]:
    if settings.series == "update_norm":
        return [float(change.norm()) for change in changes]
    return [
        float(sum((p.grad**2).sum() for name, p in module.named_parameters() if everything(name)) ** 0.5)
        for module in seen.modules
    ]


def cut(cluster: list[int], rounds: list[list[float]], standardise: bool) -> list[list[int]]:
    lines = {k: [values[k] for values in rounds] for k in cluster}
    if standardise:
        lines = {k: [value / pstdev(line) for value in line] for k, line in lines.items()}
    distance = {(i, j): warping(lines[i], lines[j]) for i in cluster for j in cluster}
    farthest = max(distance.values())
    return cheapest_cut(cluster, lambda i, j: farthest - distance[i, j])


def warping(a: list[float], b: list[float]) -> float:
    @lru_cache(None)
    def least(i: int, j: int) -> float:
        if i < 0 or j < 0:
            return 0.0 if i == j else float("inf")
        return (a[i] - b[j]) ** 2 + min(least(i - 1, j), least(i, j - 1), least(i - 1, j - 1))

    return least(len(a) - 1, len(b) - 1) ** 0.5
