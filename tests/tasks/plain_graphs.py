"""FedAvg on graph classification as a plain program: one client after another, PyG's GINConv, torch's Adam."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GINConv, global_add_pool

from fedbench import seeds
from fedbench.configuration.protocol import TrainingSettings
from fedbench.kernels.dropout import client_keys, draw_keep
from fedbench.models.gin import GIN
from fedbench.models.parameters import draw
from fedbench.tasks.graph.arrays import ClientGraphs, GraphProblem


class PlainGIN(nn.Module):
    """Input layer, GIN convolutions, sum pooling, post layer, readout."""

    def __init__(self, features: int, classes: int, layers: int, width: int) -> None:
        super().__init__()
        self.input = nn.Linear(features, width)
        mlps = [nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)) for _ in range(layers)]
        self.convs = nn.ModuleList(GINConv(mlp) for mlp in mlps)
        self.post = nn.Linear(width, width)
        self.classifier = nn.Linear(width, classes)

    def forward(self, x: Tensor, edges: Tensor, graph: Tensor, masks: list[Tensor] | None) -> Tensor:
        x = self.input(x)
        for layer, conv in enumerate(self.convs):
            x = torch.relu(conv(x, edges))
            x = x if masks is None else x * masks[layer] * 2
        x = torch.relu(self.post(global_add_pool(x, graph)))
        x = x if masks is None else x * masks[-1] * 2
        return self.classifier(x)


@dataclass
class PlainBatch:
    x: Tensor
    edges: Tensor
    graph: Tensor
    y: Tensor


def batch_of(client: ClientGraphs, graphs: np.ndarray, dtype: torch.dtype) -> PlainBatch:
    """Collate graphs in Python, one after another."""
    xs, edges, graph, offset = [], [], [], 0
    for place, g in enumerate(graphs.tolist()):
        nodes = range(int(client.nodes[g]), int(client.nodes[g + 1]))
        for node in nodes:
            row = torch.zeros(client.features.width, dtype=dtype)
            for e in range(int(client.features.start[node]), int(client.features.start[node + 1])):
                row[int(client.features.columns[e])] = float(client.features.values[e])
            xs.append(row)
            near = client.neighbours[client.start[node] : client.start[node + 1]].tolist()
            here = offset + node - nodes.start
            edges += [(offset + other - nodes.start, here) for other in near if other != node]
            graph.append(place)
        offset += len(nodes)
    pairs = torch.tensor(edges).T if edges else torch.zeros(2, 0, dtype=torch.long)
    return PlainBatch(torch.stack(xs), pairs, torch.tensor(graph), torch.from_numpy(client.labels[graphs]))


def start_from(module: PlainGIN, network: GIN, seed: int) -> None:
    values = draw(network.parameters(), seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            ours = name
            if name.startswith("convs."):
                _, layer, _, place, kind = name.split(".")
                ours = f"conv{int(layer) + 1}.{'first' if place == '0' else 'second'}.{kind}"
            value = torch.from_numpy(values[ours]).to(parameter.dtype)
            keep = ours.startswith("classifier") or value.dim() == 1
            parameter.copy_(value if keep else value.T)


def masks_of(seed: int, client: int, round: int, step: int, rows: list[int], width: int) -> list[Tensor]:
    (key,) = client_keys(seed, [client])
    found = []
    for layer, count in enumerate(rows, 1):
        out = np.zeros(count * width, dtype=np.uint8)
        draw_keep(out, key, (round, step, layer), 0.5)
        found.append(torch.from_numpy(out).view(count, width).double())
    return found


def federate(problem: GraphProblem, training: TrainingSettings, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return losses of the last batches [rounds, K] and test accuracies after the download [rounds, K]; float64."""
    model, width, layers = training.model, training.model.hidden_widths[0], len(training.model.hidden_widths)
    clients, modules, optimisers = problem.client_data, [], []
    for shape in problem.shapes:
        module = PlainGIN(shape.features, shape.classes, layers, width).double()
        start_from(module, GIN(shape.features, shape.classes, model), seed)
        modules.append(module)
        optimisers.append(
            torch.optim.Adam(module.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay)
        )
    losses, accuracies = [], []
    weights = problem.train_nodes_per_client / problem.train_nodes_per_client.sum()
    for round in range(1, training.rounds + 1):
        row = []
        for k, (client, module, optimiser) in enumerate(zip(clients, modules, optimisers, strict=True)):
            step = 0
            for epoch in range(training.local_epochs):
                order = seeds.generator("batches", seed, k, round, epoch).permutation(client.of_split("train"))
                for start in range(0, len(order), training.batch_size or len(order)):
                    batch = batch_of(client, order[start : start + (training.batch_size or len(order))], torch.float64)
                    rows = [len(batch.x)] * layers + [len(batch.y)]
                    masks = masks_of(seed, k, round, step, rows, width) if model.dropout else None
                    loss = nn.functional.cross_entropy(module(batch.x, batch.edges, batch.graph, masks), batch.y)
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
                    step += 1
            row.append(float(loss.detach()))
        losses.append(row)
        average(modules, weights)
        accuracies.append([accuracy(m, c) for m, c in zip(modules, clients, strict=True)])
    return np.array(losses), np.array(accuracies)


def average(modules: list[PlainGIN], weights: np.ndarray) -> None:
    with torch.no_grad():
        for parameters in zip(*(module.convs.parameters() for module in modules), strict=True):
            mean = sum(w * p for w, p in zip(weights, parameters, strict=True))
            for parameter in parameters:
                parameter.copy_(mean)


def accuracy(module: PlainGIN, client: ClientGraphs) -> float:
    batch = batch_of(client, client.of_split("test"), torch.float64)
    with torch.no_grad():
        answers = module(batch.x, batch.edges, batch.graph, None).argmax(1)
    return float((answers == batch.y).double().mean())
