"""What clients hold, as PyG likes it: one graph whose nodes are labelled, or many labelled graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from fedbench import seeds


@dataclass
class Batch:
    """What a module takes, and which of its outputs' rows count in the loss.

    ``inputs``: (x, edges), of the graph task (x, edges, each node's graph).
    """

    inputs: tuple[Tensor, ...]
    y: Tensor
    counts: Tensor

    def rows(self, layers: int) -> list[int]:
        """Rows of every hidden layer that has dropout: nodes in convolutions, then graphs where there are any."""
        after = [len(self.y)] if len(self.inputs) > 2 else []
        return [len(self.inputs[0])] * layers + after


class Client(Protocol):
    """``split``: 0 train, 1 validation, 2 test, for every row of `whole`; ``owner``: whose accuracy a row counts in."""

    y: Tensor
    split: Tensor
    owner: Tensor

    def whole(self) -> Batch:
        """Everything the client has; the training rows count."""

    def batches(self, round: int, epoch: int) -> Iterator[Batch]:
        """The steps of a local epoch."""


@dataclass
class Graph:
    """One client's graph: rows are nodes, one step an epoch."""

    x: Tensor
    edges: Tensor
    y: Tensor
    split: Tensor
    owner: Tensor

    def whole(self) -> Batch:
        return Batch((self.x, self.edges), self.y, self.split == 0)

    def batches(self, round: int, epoch: int) -> Iterator[Batch]:
        yield self.whole()


@dataclass
class GraphSet:
    """One client's graphs: rows are graphs, an epoch is a shuffle of the training graphs.

    ``x``, ``edges``: one of each a graph. ``about``: (run seed, client), which name the shuffles.
    """

    x: list[Tensor]
    edges: list[Tensor]
    y: Tensor
    split: Tensor
    about: tuple[int, int]
    batch_size: int | None = None
    owner: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.owner = torch.full_like(self.y, self.about[1])

    def whole(self) -> Batch:
        return self.batch(list(range(len(self.y))))

    def batch(self, graphs: list[int]) -> Batch:
        edges, graph, nodes = [], [], 0
        for place, g in enumerate(graphs):
            edges.append(self.edges[g] + nodes)
            graph += [place] * len(self.x[g])
            nodes += len(self.x[g])
        inputs = (torch.cat([self.x[g] for g in graphs]), torch.cat(edges, dim=1), torch.tensor(graph))
        return Batch(inputs, self.y[graphs], self.split[graphs] == 0)

    def batches(self, round: int, epoch: int) -> Iterator[Batch]:
        train = (self.split == 0).nonzero().flatten().numpy()
        order = seeds.generator("batches", *self.about, round, epoch).permutation(train).tolist()
        size = self.batch_size or len(order)
        for start in range(0, len(order), size):
            yield self.batch(order[start : start + size])
