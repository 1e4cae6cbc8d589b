"""GCFL: one client's update after another, and every way of cutting a cluster tried."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import torch
from torch import Tensor

from tests.reference.federation import Seen
from tests.reference.plans import Plan, Settings, Shape, everything, plain, sizes

TASKS = ("node", "graph")
CASES = ({"burn_in": 2, "relative": True, "eps1": 2.0, "eps2": 0.1, "weights": "train_nodes"},)

Similarity = Callable[[int, int], float]


def plan(settings: Settings, shape: Shape) -> Plan:
    clusters: list[list[int]] = []
    longest: list[float] = [0.0]

    def combine(seen: Seen) -> Tensor:
        changes = updates(seen)

        def similarity(i: int, j: int) -> float:
            return float(torch.dot(changes[i], changes[j]) / (changes[i].norm() * changes[j].norm())) + 1

        start(clusters, seen)
        old = list(clusters)
        limits = thresholds(settings, old, changes, longest)
        clusters.clear()
        for cluster in old:
            due = seen.round > settings.burn_in and disagree(cluster, changes, limits)
            clusters.extend(cheapest_cut(cluster, similarity) if due else [cluster])
        return within(clusters, settings, seen)

    return Plan(plain, everything, combine_seen=combine)


def updates(seen: Seen) -> list[Tensor]:
    changes = []
    for module, received in zip(seen.modules, seen.received, strict=True):
        own = dict(module.named_parameters())
        changes.append(torch.cat([(own[name].detach() - received[name]).flatten() for name in received]))
    return changes


def start(clusters: list[list[int]], seen: Seen) -> None:
    if not clusters:
        clusters.append(list(range(len(seen.modules))))


def mean_norm(cluster: list[int], changes: list[Tensor]) -> float:
    return float((sum(changes[k] for k in cluster) / len(cluster)).norm())


def thresholds(
    settings: Settings, clusters: list[list[int]], changes: list[Tensor], longest: list[float]
) -> list[float]:
    longest[0] = max(longest[0], *(mean_norm(cluster, changes) for cluster in clusters))
    scale = longest[0] if settings.relative else 1.0
    return [settings.eps1 * scale, settings.eps2 * scale]


def disagree(cluster: list[int], changes: list[Tensor], limits: list[float]) -> bool:
    longest = max(float(changes[k].norm()) for k in cluster)
    return len(cluster) > 2 and mean_norm(cluster, changes) < limits[0] and longest > limits[1]


def cheapest_cut(cluster: list[int], similarity: Similarity) -> list[list[int]]:
    sides = [list(s) for size in range(1, len(cluster)) for s in combinations(cluster, size) if cluster[0] in s]

    def cost(side: list[int]) -> float:
        return sum(similarity(i, j) for i in side for j in cluster if j not in side)

    best = min(sides, key=cost)
    return [best, [k for k in cluster if k not in best]]


def within(clusters: list[list[int]], settings: Settings, seen: Seen) -> Tensor:
    size = sizes(settings.weights, seen.graphs)
    weights = torch.zeros(len(size), len(size), dtype=torch.float64)
    for cluster in clusters:
        for k in cluster:
            for j in cluster:
                weights[k, j] = size[j] / sum(size[i] for i in cluster)
    return weights
