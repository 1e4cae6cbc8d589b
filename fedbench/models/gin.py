"""Graph isomorphism network over packed batches of graphs, with private ends (GCFL's and FedStar's released model).

Input layer (private): x = X W + b. Layer l (shared): x <- dropout(relu(W2 relu(W1 (A + I) x + b1) + b2)). Then the sum
over a graph's nodes, a private linear layer with ReLU and dropout, a private linear readout. No batch norm, eps = 0.

Between input layer and layer 1 stands no activation, and dropout comes after layer 1. So all of layer 1 but its dropout
is computed on the distinct rows of (A + I) X, of which molecules have few, and spread over the nodes afterwards: exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from torch import Tensor

from fedbench.configuration.protocol import ModelSettings
from fedbench.kernels.activation import bias_relu_dropout
from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.linear import stacked_linear
from fedbench.kernels.sparse import SparseMatrix
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
        declared = _linear("input", self.features, width, private=True)
        for layer in range(1, len(self.model.hidden_widths) + 1):
            declared |= _linear(f"conv{layer}.first", width, width) | _linear(f"conv{layer}.second", width, width)
        declared |= _linear("post", width, width, private=True)
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
        x = self._first_layer(parameters, block, dropout)
        for layer in range(2, len(self.model.hidden_widths) + 1):
            x = self._convolved(parameters, layer, times(block.neighbours(layer), x), dropout)
        pooled = times(block.pool, x) @ parameters["post.weight"]
        over_graphs = replace(dropout, sizes=block.graph_sizes, slots=block.graph_slots) if dropout else None
        pooled = _activated(pooled, parameters["post.bias"], over_graphs, len(self.model.hidden_widths) + 1)
        return stacked_linear(pooled, parameters["classifier.weight"]) + parameters["classifier.bias"].unsqueeze(1)

    def _first_layer(self, parameters: Parameters, block: GraphBatch, dropout: DropoutStream | None) -> Tensor:
        """Return the first layer's output [clients, nodes, width]."""
        weight, bias = parameters["input.weight"], parameters["input.bias"]
        x = (block.first @ weight.reshape(-1, weight.shape[2])).view(block.clients, -1, weight.shape[2])
        x = x + block.degrees * bias.unsqueeze(1)
        if block.spread is None:
            return self._convolved(parameters, 1, x, dropout)
        x = times(block.spread, self._convolved(parameters, 1, x, None))
        keep = dropout.keep(1, x.shape[2]) if dropout else None
        return x if keep is None or dropout is None else x * (keep.to(x.dtype) * dropout.scale)

    def _convolved(self, parameters: Parameters, layer: int, x: Tensor, dropout: DropoutStream | None) -> Tensor:
        """Return dropout(relu(W2 relu(W1 x + b1) + b2))."""
        name = f"conv{layer}"
        x = bias_relu_dropout(x @ parameters[f"{name}.first.weight"], parameters[f"{name}.first.bias"])
        return _activated(x @ parameters[f"{name}.second.weight"], parameters[f"{name}.second.bias"], dropout, layer)


def _linear(name: str, incoming: int, width: int, private: bool = False) -> dict[str, Parameter]:
    start = fan_in_uniform(incoming)
    return {
        f"{name}.weight": Parameter((incoming, width), start, private),
        f"{name}.bias": Parameter((width,), start, private),
    }


def _activated(x: Tensor, bias: Tensor, dropout: DropoutStream | None, layer: int) -> Tensor:
    keep = dropout.keep(layer, x.shape[2]) if dropout else None
    scale = dropout.scale if keep is not None and dropout else 1.0
    return bias_relu_dropout(x, bias, keep, scale)


def times(matrix: SparseMatrix, x: Tensor) -> Tensor:
    """Return the product with ``x`` [clients, rows, width], [clients, other rows, width]."""
    return (matrix @ x.reshape(-1, x.shape[2])).view(len(x), -1, x.shape[2])
