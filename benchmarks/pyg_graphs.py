"""FedAvg over graph data sets as GCFL's and FedStar's code runs it: a loop over clients, DataLoader, GINConv."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool

from fedbench.configuration.protocol import TrainingSettings
from fedbench.tasks.graph.arrays import SPLIT_CODES, ClientGraphs, GraphProblem
from fedbench.tasks.task import Shape


class Gin(nn.Module):
    """Private linear input layer, GIN convolutions, sum pool, private linear layer and readout."""

    def __init__(self, shape: Shape, training: TrainingSettings) -> None:
        super().__init__()
        width, self.dropout = training.model.hidden_widths[0], training.model.dropout
        self.pre = nn.Linear(shape.features, width)
        self.convs = nn.ModuleList(GINConv(_mlp(width)) for _ in training.model.hidden_widths)
        self.post = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.readout = nn.Linear(width, shape.classes)

    def forward(self, batch: Data) -> Tensor:
        x = self.pre(batch.x)
        for conv in self.convs:
            x = functional.dropout(functional.relu(conv(x, batch.edge_index)), self.dropout, self.training)
        x = self.post(global_add_pool(x, batch.batch))
        x = self.readout(functional.dropout(x, self.dropout, self.training))
        return functional.log_softmax(x, dim=1)


def _mlp(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))


class Loop:
    """Clients, each with its model, optimiser and loaders; `round` is a communication round with evaluation on test."""

    def __init__(self, problem: GraphProblem, training: TrainingSettings) -> None:
        torch.manual_seed(0)
        self.models = [Gin(shape, training) for shape in problem.shapes]
        self.sizes = torch.tensor(problem.train_nodes_per_client, dtype=torch.float32)
        self.optimisers = [
            torch.optim.Adam(model.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay)
            for model in self.models
        ]
        graphs = [
            list(as_data(client, shape)) for client, shape in zip(problem.client_data, problem.shapes, strict=True)
        ]
        self.loaders = {
            split: [DataLoader(_of_split(own, split), training.batch_size, shuffle=split == "train") for own in graphs]
            for split in ("train", "test")
        }
        self._download(copy.deepcopy(self.models[0].convs.state_dict()))

    def round(self) -> list[float]:
        """Train one local epoch a client, average the convolutions by training graphs, and return test accuracies."""
        for model, optimiser, loader in zip(self.models, self.optimisers, self.loaders["train"], strict=True):
            _train(model, optimiser, loader)
        weights = self.sizes / self.sizes.sum()
        uploads = [model.convs.state_dict() for model in self.models]
        self._download({name: sum(w * up[name] for w, up in zip(weights, uploads, strict=True)) for name in uploads[0]})
        return [_accuracy(model, loader) for model, loader in zip(self.models, self.loaders["test"], strict=True)]

    def _download(self, state: dict[str, Any]) -> None:
        for model in self.models:
            model.convs.load_state_dict(state)


def _train(model: Gin, optimiser: torch.optim.Optimizer, loader: DataLoader) -> None:
    model.train()
    for batch in loader:
        optimiser.zero_grad()
        functional.nll_loss(model(batch), batch.y).backward()
        optimiser.step()


def _accuracy(model: Gin, loader: DataLoader) -> float:
    model.eval()
    with torch.no_grad():
        right = [int((model(batch).argmax(1) == batch.y).sum()) for batch in loader]
    return sum(right) / len(loader.dataset)


def _of_split(graphs: list[Data], split: str) -> list[Data]:
    return [graph for graph in graphs if graph.split == SPLIT_CODES[split]]


def as_data(client: ClientGraphs, shape: Shape) -> Iterator[Data]:
    """Yield a client's graphs with dense features and edges without self-loops."""
    nodes, start = torch.from_numpy(client.nodes), torch.from_numpy(client.start)
    source = torch.repeat_interleave(torch.arange(len(start) - 1), start.diff())
    target = torch.from_numpy(client.neighbours).long()
    x = dense(client, shape)
    for place, label in enumerate(client.labels.tolist()):
        first, last = nodes[place], nodes[place + 1]
        own = slice(int(start[first]), int(start[last]))
        pairs = torch.stack([source[own], target[own]])
        edges = pairs[:, pairs[0] != pairs[1]] - first
        split = int(client.split[place])
        yield Data(x=x[first:last], edge_index=edges, y=torch.tensor([label]), split=split)


def dense(client: ClientGraphs, shape: Shape) -> Tensor:
    """Return a client's features, [nodes, features]."""
    rows, x = client.features, torch.zeros(len(client.start) - 1, shape.features)
    row = torch.repeat_interleave(torch.arange(len(x)), torch.from_numpy(rows.start).diff())
    x[row, torch.from_numpy(rows.columns).long()] = torch.from_numpy(rows.values).float()
    return x
