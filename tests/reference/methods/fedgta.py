"""FedGTA: dense matrices, one node's neighbours after another's."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tests.reference.federation import Graph, Seen
from tests.reference.plans import Plan, Settings, Shape, everything, plain


def plan(settings: Settings, shape: Shape) -> Plan:
    def combine(seen: Seen) -> Tensor:
        labels = [
            client_labels(settings, m, g, shape["classes"]) for m, g in zip(seen.modules, seen.graphs, strict=True)
        ]
        surety = [confidence(settings, y, g) for (y, _), g in zip(labels, seen.graphs, strict=True)]
        described = [moments(settings, y) for _, y in labels]
        weights = torch.zeros(len(labels), len(labels), dtype=torch.float64)
        for k, mine in enumerate(described):
            others = [j for j, m in enumerate(described) if torch.cosine_similarity(mine, m, dim=0) > settings.epsilon]
            for j in others:
                weights[k, j] = surety[j] / sum(surety[i] for i in others)
        return weights

    return Plan(plain, everything, combine_seen=combine)


def client_labels(settings: Settings, module: nn.Module, graph: Graph, classes: int) -> tuple[Tensor, Tensor]:
    """Return what the confidence and what the moments are made of, [nodes, classes]."""
    module.eval()
    with torch.no_grad():
        first = torch.softmax(module(graph.x, graph.edges), dim=1)
    train = (graph.split == 0).nonzero().flatten().tolist() if settings.known_labels else []

    def put_back(labels: Tensor) -> Tensor:
        labels = labels.clone()
        for node in train:
            labels[node] = torch.eye(classes, dtype=labels.dtype)[graph.y[node]]
        return labels

    first = put_back(first)
    labels = first
    neighbours = [[i, *graph.edges[1][graph.edges[0] == i].tolist()] for i in range(len(first))]
    for _ in range(settings.steps):
        rows = []
        for i, near in enumerate(neighbours):
            gathered = sum(labels[j] / math.sqrt(len(near) * len(neighbours[j])) for j in near)
            rows.append(settings.alpha * gathered + (1 - settings.alpha + (i in train)) * first[i])
        labels = torch.stack(rows)
    if settings.temperature is None:
        return put_back(labels), put_back(labels)
    return put_back(torch.softmax(labels / settings.temperature, 1)), put_back(torch.softmax(labels, 1))


def confidence(settings: Settings, labels: Tensor, graph: Graph) -> Tensor:
    total = torch.zeros((), dtype=labels.dtype)
    for i, row in enumerate(labels):
        degree = int((graph.edges[0] == i).sum()) + settings.self_loops
        total += degree * sum(math.exp(-1) + y * torch.log(y + 1e-8) for y in row)
    return total


def moments(settings: Settings, labels: Tensor) -> Tensor:
    powers = range(1, settings.order + 1)
    raw = [(labels**p).mean(0) for p in powers]
    central = [((labels - labels.mean(0)) ** p).mean(0) for p in powers]
    return torch.cat({"raw": raw, "central": central, "mixed": raw + central}[settings.moments])
