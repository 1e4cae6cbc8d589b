"""Graph isomorphism network over packed batches of graphs, with private ends (GCFL's and FedStar's released model).

Input layer (private): x = X W + b. Layer l (shared): x <- dropout(relu(W2 relu(W1 (A + I) x + b1) + b2)). Then the sum
over a graph's nodes, a private linear layer with ReLU and dropout, a private linear readout. No batch norm, eps = 0.

Between input layer and layer 1 stands no activation, and dropout comes after layer 1. So all of layer 1 but its dropout
is computed on the distinct rows of (A + I) X, of which molecules have few, and spread over the nodes afterwards: exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from torch import Tensor

from fedbench.configuration.protocol import ModelSettings
from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.gin import Graphs, gin
from fedbench.kernels.sparse import SparseMatrix
from fedbench.models.linear_maps import linear_parameters
from fedbench.models.parameters import Parameter, Parameters, fan_in_uniform


class GraphBatch(Protocol):
    """Some graphs of the clients computed in one step, rows padded to the same number for each client.

    ``first``: distinct rows of (A + I) X [clients * rows, clients * features]; ``degrees`` [clients, rows, 1]: their
    row sums of A + I. ``spread``: which row a node has, or None where rows are kept. ``pool``: sums over a graph's
    nodes [clients * graphs, clients * nodes]. ``graph_sizes``, ``graph_slots``: graphs of each client, and padded.
    ``train_counts``: training graphs of each class [clients, classes].
    """

    clients: int
    first: SparseMatrix
    degrees: Tensor
    spread: SparseMatrix | None
    pool: SparseMatrix
    graph_sizes: tuple[int, ...]
    graph_slots: int
    train_counts: Tensor

    def neighbours(self, layer: int) -> SparseMatrix:
        """A + I for a layer from 2 on."""


@dataclass(frozen=True)
class GIN:
    """A graph isomorphism network.

    Args:
        features: input width, the client's own.
        classes: output width, the client's own.
        model: layers, width, dropout.
    """

    features: int
    classes: int
    model: ModelSettings

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare ``input``, ``conv<l>.first``, ``conv<l>.second``, ``post``, ``classifier``: a weight and a bias each.

        All but the convolutions are private. Weights are stored [in, out], the classifier's [classes, in].
        """
        width = self.model.hidden_widths[0]
        declared = linear_parameters("input", self.features, width, private=True)
        for layer in range(1, len(self.model.hidden_widths) + 1):
            declared |= linear_parameters(f"conv{layer}.first", width, width)
            declared |= linear_parameters(f"conv{layer}.second", width, width)
        declared |= linear_parameters("post", width, width, private=True)
        start = fan_in_uniform(width)
        return declared | {
            "classifier.weight": Parameter((self.classes, width), start, private=True),
            "classifier.bias": Parameter((self.classes,), start, private=True),
        }

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters unchanged."""
        return parameters

    def forward(self, parameters: Parameters, block: GraphBatch, dropout: DropoutStream | None) -> Tensor:
        """Return logits [clients, graphs, classes]."""
        layers = range(1, len(self.model.hidden_widths) + 1)
        graphs = Graphs(
            block.first,
            block.degrees,
            block.spread,
            [block.neighbours(layer) for layer in layers[1:]],
            block.pool,
            self._masks(block, dropout),
            dropout.scale if dropout else 1.0,
        )
        return gin(graphs, [parameters[name] for name in self._names])

    @cached_property
    def _names(self) -> list[str]:
        return list(self.parameters())

    def _masks(self, block: GraphBatch, dropout: DropoutStream | None) -> list[Tensor | None]:
        """Return the mask of each layer's nodes, and that of the sums over graphs."""
        widths = self.model.hidden_widths
        if dropout is None:
            return [None] * (len(widths) + 1)
        over_graphs = replace(dropout, sizes=block.graph_sizes, slots=block.graph_slots)
        of_nodes = [dropout.keep(layer, width) for layer, width in enumerate(widths, start=1)]
        return [*of_nodes, over_graphs.keep(len(widths) + 1, widths[-1])]


def times(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """Return the product with ``x`` [clients, rows, width], [clients, other rows, width]."""
    return (matrix @ x.reshape(-1, x.shape[2])).view(len(x), -1, x.shape[2])
