"""NeighGen again, as the equations read: dense tensors, loops over nodes, every generated row of every node computed.

Only the random numbers (which nodes are hidden, initial weights, noise, dropout, samples) come from the package.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from fedbench.neighgen.cross_client import Neighbours
from fedbench.neighgen.draws import Draws, Layer, Phase
from fedbench.neighgen.impair import generator_split, impair
from fedbench.neighgen.network import declare, start
from fedbench.neighgen.operators import features
from fedbench.neighgen.settings import NeighGenSettings
from fedbench.seeds import generator
from fedbench.tasks.node.arrays import ClientGraph

DOUBLE, CPU = torch.float64, torch.device("cpu")


def dense(graph: ClientGraph, width: int) -> Tensor:
    x = torch.zeros(graph.size, width, dtype=DOUBLE)
    for row, column, value in zip(graph.feature_rows, graph.feature_columns, graph.feature_values, strict=True):
        x[row, column] = float(value)
    return x


def adjacency(graph: ClientGraph) -> Tensor:
    a = torch.zeros(graph.size, graph.size, dtype=DOUBLE)
    for source, target in graph.edges.T:
        a[source, target] = 1.0
    return a


def averaging(a: Tensor) -> Tensor:
    with_self = a + torch.eye(len(a), dtype=DOUBLE)
    return with_self / with_self.sum(1, keepdim=True)


@dataclass
class PlainClient:
    """One client, one seed; the other clients' graphs are only read by the cross-client term."""

    graphs: list[ClientGraph]
    client: int
    width: int
    classes: int
    settings: NeighGenSettings
    seed: int
    losses: dict[str, list[dict[str, float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own, graph = self.settings, self.graphs[self.client]
        self.x = [self.scaled(dense(g, self.width)) for g in self.graphs]
        self.a = adjacency(graph)
        self.kept = impair(graph, own, self.seed, self.client).kept.tolist()
        self.hidden = [v for v in range(graph.size) if v not in self.kept]
        self.impaired = self.a[self.kept][:, self.kept]
        self.missing = [[u for u in self.hidden if self.a[v, u] == 1] for v in self.kept]
        self.loss_nodes, self.label_nodes = self.nodes_of_losses(graph)
        self.labels = torch.tensor([int(graph.labels[self.kept[v]]) for v in self.label_nodes])
        self.w = self.initial()

    def scaled(self, x: Tensor) -> Tensor:
        if self.settings.row_scale == "as_given":
            return x
        return torch.stack([row / row.abs().max() if row.any() else row for row in x])

    def nodes_of_losses(self, graph: ClientGraph) -> tuple[list[int], list[int]]:
        here = range(len(self.kept))
        if self.settings.split == "generator":
            part = generator_split(graph.labels, generator("neighgen hidden nodes", self.seed, self.client))
            here = [v for v in here if part[self.kept[v]] == 0]
        if self.settings.labels == "generator":
            return list(here), list(here)
        return list(here), [v for v in here if graph.split[self.kept[v]] == 0]

    def initial(self) -> dict[str, Tensor]:
        """fGen's last layer is one [second, P x width] matrix here."""
        w = start(declare(self.width, self.classes, self.settings), self.seed, self.client, DOUBLE, CPU)
        blocks = range(self.settings.predicted_neighbours)
        for what, axis in (("weight", 1), ("bias", 0)):
            w[f"generator.out.{what}"] = torch.cat([w.pop(f"generator.out.{p}.{what}") for p in blocks], axis)
        return {name: value.clone().requires_grad_(True) for name, value in w.items()}

    def draws(self, phase: Phase, epoch: int) -> Draws:
        return Draws(self.seed, self.client, phase, epoch, self.settings.dropout, DOUBLE, CPU)

    def gnn(self, name: str, x: Tensor, a: Tensor, mask: Tensor | float) -> Tensor:
        w = self.w
        hidden = torch.relu(a @ x @ w[f"{name}.0.weight"] + w[f"{name}.0.bias"]) * mask
        return a @ hidden @ w[f"{name}.1.weight"] + w[f"{name}.1.bias"]

    def encode(self, x: Tensor, a: Tensor, draws: Draws | None) -> tuple[Tensor, Tensor, list[int]]:
        ones = torch.ones(len(x), self.settings.encoder_width, dtype=DOUBLE)
        z = torch.relu(self.gnn("encoder", x, averaging(a), 1.0 if draws is None else draws.drop(ones, Layer.ENCODER)))
        predicted = torch.relu(z @ self.w["count.weight"] + self.w["count.bias"])[:, 0]
        to_whole = {"round": round, "truncate": math.floor}[self.settings.counts]
        return z, predicted, [min(to_whole(n.item()), self.settings.predicted_neighbours) for n in predicted]

    def generate(self, z: Tensor, counts: list[int], draws: Draws, drop: bool) -> Tensor:
        """[nodes, P, width]; noise and dropout are those of the nodes with a generated neighbour, 0 elsewhere."""
        used = [v for v, count in enumerate(counts) if count > 0]
        noise = torch.zeros_like(z)
        noise[used] = draws.noise(len(used), z.shape[1])
        mask = torch.ones(len(z), self.settings.generator_widths[1], dtype=DOUBLE)
        if drop:
            mask[used] = draws.drop(mask[used], Layer.GENERATOR)
        w = self.w
        hidden = torch.relu((z + noise) @ w["generator.0.weight"] + w["generator.0.bias"])
        hidden = torch.relu(hidden @ w["generator.1.weight"] + w["generator.1.bias"]) * mask
        flat = torch.tanh(hidden @ w["generator.out.weight"] + w["generator.out.bias"])
        return flat.view(len(z), self.settings.predicted_neighbours, self.width)

    def slots(self, counts: list[int]) -> list[tuple[int, int]]:
        """(node, p) in the order in which generated neighbours are appended."""
        most = self.settings.predicted_neighbours
        return [(v, p) for p in range(most) for v, count in enumerate(counts) if count > p]

    def classify(self, x: Tensor, generated: Tensor, counts: list[int], draws: Draws | None) -> Tensor:
        slots = self.slots(counts)
        size = len(self.kept) + len(slots)
        a = torch.zeros(size, size, dtype=DOUBLE)
        a[: len(self.kept), : len(self.kept)] = self.impaired
        for place, (v, _) in enumerate(slots, start=len(self.kept)):
            a[v, place] = a[place, v] = 1.0
        x = torch.cat([x, *(generated[v, p][None] for v, p in slots)])
        mask = torch.ones(size, self.settings.encoder_width, dtype=DOUBLE)
        logits = self.gnn("classifier", x, averaging(a), mask if draws is None else draws.drop(mask, Layer.CLASSIFIER))
        return torch.relu(logits) if self.settings.classifier_relu else logits

    def feature_loss(self, generated: Tensor, counts: list[int]) -> Tensor:
        total = generated.sum() * 0.0
        x = self.x[self.client]
        for v in self.loss_nodes:
            for p in range(counts[v]):
                if self.missing[v]:
                    total = total + ((generated[v, p] - x[self.missing[v]]) ** 2).sum(1).min()
        return total * self.feature_scale()

    def cross_loss(self, generated: Tensor, counts: list[int], draws: Draws) -> Tensor:
        total = generated.sum() * 0.0
        for j in (j for j in range(len(self.graphs)) if j != self.client):
            candidates = self.candidates(j, draws)
            for v in self.loss_nodes:
                for p in range(counts[v]):
                    if candidates[v]:
                        total = total + ((generated[v, p] - self.x[j][candidates[v]]) ** 2).sum(1).min()
        return total * self.feature_scale()

    def candidates(self, j: int, draws: Draws) -> list[list[int]]:
        if self.settings.cross_client == "exact_minimum":
            return [list(range(self.graphs[j].size))] * len(self.kept)
        lists = Neighbours.of(j, self.graphs[j], features(self.graphs[j], self.width, DOUBLE, CPU))
        most = self.settings.predicted_neighbours
        drawn = lists.sample(len(self.kept), most, draws.sampler(j))
        return [drawn[v][: min(most, len(missing))].tolist() for v, missing in enumerate(self.missing)]

    def feature_scale(self) -> float:
        each = {"sum": 1, "mean": self.settings.predicted_neighbours * self.width}[self.settings.feature_distance]
        return 1.0 / (len(self.loss_nodes) * each)

    def class_loss(self, logits: Tensor) -> Tensor:
        return functional.cross_entropy(logits[self.label_nodes], self.labels)

    def train_locally(self) -> None:
        own = self.settings
        names = [n for n in self.w if own.train_convolutions or not n.startswith(("encoder", "classifier"))]
        x = self.x[self.client][self.kept]
        true = torch.tensor([len(m) for m in self.missing], dtype=DOUBLE)
        adam = torch.optim.Adam([self.w[n] for n in names], lr=own.learning_rate, weight_decay=own.weight_decay)
        for epoch in range(own.generator_epochs):
            draws = self.draws(Phase.LOCAL, epoch)
            z, predicted, counts = self.encode(x, self.impaired, draws)
            generated = self.generate(z, counts, draws, True)
            terms = {
                "count": own.count_weight
                * functional.smooth_l1_loss(predicted[self.loss_nodes], true[self.loss_nodes]),
                "feature": own.feature_weight * self.feature_loss(generated, counts),
                "class": own.class_weight * self.class_loss(self.classify(x, generated, counts, draws)),
            }
            self.step(adam, terms, "local")

    def train_federated(self) -> None:
        own, clients = self.settings, len(self.graphs)
        x = self.x[self.client][self.kept]
        names = [n for n in self.w if n.startswith("generator")]
        adam = torch.optim.Adam([self.w[n] for n in names], lr=own.learning_rate, weight_decay=own.weight_decay)
        for epoch in range(own.federated_epochs):
            draws = self.draws(Phase.FEDERATED, epoch)
            z, _, counts = self.encode(x, self.impaired, None)
            generated = self.generate(z, counts, draws, True)
            cross = own.cross_client_weight * self.cross_loss(generated, counts, draws)
            terms = {
                "feature": own.feature_weight * self.feature_loss(generated, counts) / clients,
                "cross_client": own.feature_weight * cross / clients,
                "class": own.class_weight * self.class_loss(self.classify(x, generated, counts, None)) / clients,
            }
            self.step(adam, terms, "federated")

    def step(self, adam: torch.optim.Adam, terms: dict[str, Tensor], phase: str) -> None:
        adam.zero_grad()
        sum(terms.values()).backward()
        adam.step()
        self.losses.setdefault(phase, []).append({name: term.item() for name, term in terms.items()})

    def generated(self) -> tuple[list[int], np.ndarray]:
        """Owners and features, back in the scale of the graph as given."""
        everyone = list(range(self.graphs[self.client].size))
        nodes = everyone if self.settings.mended_nodes == "all" else self.kept
        z, _, counts = self.encode(self.x[self.client][nodes], self.a[nodes][:, nodes], None)
        generated = self.generate(z, counts, self.draws(Phase.MENDING, 0), False)
        slots = self.slots(counts)
        rows = [generated[v, p].detach().numpy() * self.back() for v, p in slots]
        return [nodes[v] for v, _ in slots], np.array(rows)

    def back(self) -> float:
        if self.settings.row_scale == "as_given":
            return 1.0
        largest = dense(self.graphs[self.client], self.width).abs().amax(1)
        return float(largest[largest > 0].mean())
