"""FedStar: knowledge of structure is shared, knowledge of features stays (Tan et al., AAAI 2023, section 4).

Structure encodings of all nodes are made once (`_fedstar_encoding`); the network has a channel for features and one for
structure (`fedbench.models.fedstar`); the server averages the structure channel, weighed by training graphs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import Field
from torch import Tensor

from fedbench.methods._fedstar_encoding import adjacency, degree_classes, read_by_layer_1, return_probabilities
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Preparation
from fedbench.methods.weights import rows_by
from fedbench.models.fedstar import FedStarNetwork
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings
from fedbench.tasks.graph.arrays import ClientGraphs

_PARTS = {"rw_dg": ("rw", "dg"), "rw": ("rw",), "dg": ("dg",)}


class FedStarSettings(Settings):
    """Settings of FedStar; defaults are the released ones."""

    encoding: Literal["rw_dg", "rw", "dg"] = Field(
        "rw_dg", description="return probabilities of a random walk and degrees, or one of them"
    )
    walk_steps: int = Field(16, ge=1, description="random-walk steps, k_1")
    degrees: int = Field(16, ge=1, description="degree classes, k_2; larger degrees count as the last, 0 as the first")
    shared: Literal["structure", "nothing"] = Field(
        "structure", description="what is averaged; 'nothing' trains the same networks alone, as a control"
    )
    weights: Literal["train_nodes", "uniform"] = Field(
        "train_nodes", description="client weights in the average; released code: training graphs"
    )


class FedStar(Method[FedStarSettings]):
    """FedAvg of the structure channel of two-channel networks, for graph classification."""

    Settings = FedStarSettings
    source = "Tan et al., Federated learning on non-IID graphs via structural knowledge sharing, AAAI 2023"

    def prepare(self, problem: Any, cell: Cell) -> Preparation:
        """Put what layer 1 reads of structure encodings beside every node's features; nothing is sent."""
        return Preparation([[self._encoded(client) for client in problem.client_data]] * len(cell.seeds))

    def _encoded(self, client: ClientGraphs) -> ClientGraphs:
        graph = adjacency(client)
        parts = {
            "rw": lambda: return_probabilities(graph, self.settings.walk_steps),
            "dg": lambda: degree_classes(graph, self.settings.degrees),
        }
        encodings = np.hstack([parts[part]() for part in _PARTS[self.settings.encoding]])
        return replace(client, extra=read_by_layer_1(graph, encodings))

    def network(self, cell: Cell, client: int = 0) -> FedStarNetwork:
        """Return the two-channel network for a client's widths."""
        widths = {"rw": self.settings.walk_steps, "dg": self.settings.degrees}
        encodings = sum(widths[part] for part in _PARTS[self.settings.encoding])
        shape = cell.shapes[client]
        return FedStarNetwork(shape.features, encodings, shape.classes, self.training.model)

    def shares(self, parameter: str) -> bool:
        """Share the structure channel: its input layer and its convolutions."""
        return self.settings.shared == "structure" and parameter.startswith("structure.")

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W whose rows are the clients' shares of the training graphs."""
        return rows_by(self.settings.weights, exchange.cell)
