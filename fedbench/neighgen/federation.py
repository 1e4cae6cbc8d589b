"""All clients' data as NeighGen needs it, and what one client sees of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from fedbench.neighgen.cross_client import ExactMinimum, Neighbours, Others, Sampled
from fedbench.neighgen.operators import Features, features
from fedbench.neighgen.settings import NeighGenSettings
from fedbench.tasks.node.arrays import ClientGraph


@dataclass(frozen=True)
class Federation:
    """The clients' graphs and features, and what holds for all: classes, settings, seed, rows searched at once."""

    graphs: Sequence[ClientGraph]
    features: Sequence[Features]
    classes: int
    settings: NeighGenSettings
    seed: int
    chunk: int

    @property
    def clients(self) -> int:
        """M."""
        return len(self.graphs)

    def others(self, client: int, nodes: int) -> Others:
        """Return the other clients of a client with ``nodes`` kept nodes."""
        rest = [other for other in range(self.clients) if other != client]
        if self.settings.cross_client == "exact_minimum":
            return ExactMinimum([self.features[other] for other in rest], self.chunk)
        lists = [Neighbours.of(other, self.graphs[other], self.features[other]) for other in rest]
        return Sampled(lists, nodes, self.settings.predicted_neighbours)


def federation(
    graphs: Sequence[ClientGraph], width: int, classes: int, settings: NeighGenSettings, seed: int,
    dtype: torch.dtype, device: torch.device, chunk: int,
) -> Federation:  # fmt: skip
    """Put all clients' features on the device."""
    rows = [features(graph, width, dtype, device) for graph in graphs]
    return Federation(graphs, rows, classes, settings, seed, chunk)
