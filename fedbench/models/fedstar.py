"""FedStar's two-channel network (Tan et al., AAAI 2023, section 4; released model ``GIN_dc``).

Features: x^0 = X W + b. Structure: s^0 = T W + b, T the nodes' structure encodings.
Layer l: x <- dropout(relu(GIN([x | s]))), s <- tanh(GCN(s)). Then [x | s] W + b, the sum over a graph's nodes, and the
GIN network's end: linear, ReLU, dropout, linear.

[x | s] is never written out: W falls into the rows that meet x and those that meet s. The linear layer after the last
convolution has no activation, so it comes after the sum over nodes: exact. As in `fedbench.models.gin` the share of x
in layer 1 is computed on the distinct rows of (A + I) X. Nor has s^0 an activation: with W' = [W; b] layer 1 reads
(A + I) s^0 = ((A + I) [T | 1]) W' and S s^0 = (S [T | 1]) W', S the GCN's matrix, and W' meets the next weight first.
The two matrices of T, each as wide as T and one column, are constants that the method puts beside the nodes' features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from fedbench.configuration.protocol import ModelSettings
from fedbench.kernels.activation import bias_relu_dropout
from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.linear import stacked_linear
from fedbench.kernels.sparse import SparseMatrix, own_transpose
from fedbench.models.gin import times
from fedbench.models.linear_maps import linear_parameters
from fedbench.models.parameters import Initial, Parameter, Parameters, fan_in_uniform, glorot, zeros


@dataclass(frozen=True)
class FedStarNetwork:
    """A GIN on features beside a GCN on structure encodings.

    Args:
        features: input width, the client's own.
        encodings: width of the structure encodings, all clients'.
        classes: output width, the client's own.
        model: layers, width, dropout.
    """

    features: int
    encodings: int
    classes: int
    model: ModelSettings

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare ``input``, ``conv<l>``, ``joined``, ``post``, ``classifier`` for features, and the structure channel.

        That is ``structure.input`` and ``structure.conv<l>``. The ends, whose widths are the client's, are private.
        Weights are stored [in, out], the classifier's [classes, in]; convolutions of the structure channel start as
        PyG's GCNConv, all else as torch's linear layer.
        """
        width = self.model.hidden_widths[0]
        declared = linear_parameters("input", self.features, width, private=True)
        declared |= linear_parameters("structure.input", self.encodings, width)
        for layer in range(1, len(self.model.hidden_widths) + 1):
            declared |= linear_parameters(f"conv{layer}.first", 2 * width, width)
            declared |= linear_parameters(f"conv{layer}.second", width, width)
            declared |= _map(f"structure.conv{layer}", (width, width), glorot, zeros, private=False)
        declared |= linear_parameters("joined", 2 * width, width)
        declared |= linear_parameters("post", width, width, private=True)
        start = fan_in_uniform(width)
        return declared | {
            "classifier.weight": Parameter((self.classes, width), start, private=True),
            "classifier.bias": Parameter((self.classes,), start, private=True),
        }

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters unchanged."""
        return parameters

    def forward(self, parameters: Parameters, block: Any, dropout: DropoutStream | None) -> Tensor:
        """Return logits [clients, graphs, classes].

        ``block``: a `fedbench.tasks.graph.block.Batch` of nodes, whose ``extra`` is [(A + I) [T | 1] | S [T | 1]].
        """
        around = block.neighbours(2)
        smooth = normalised(around, block.degrees.dtype)
        x, s = self._first_layer(parameters, block, dropout)
        for layer in range(2, len(self.model.hidden_widths) + 1):
            from_x, from_s = parameters[f"conv{layer}.first.weight"].split(self._width, dim=1)
            inner = times(around, x) @ from_x + times(around, s) @ from_s
            x = self._convolved(parameters, layer, inner, dropout)
            s = torch.tanh(_mapped(parameters, f"structure.conv{layer}", times(smooth, s)))
        return self._read_out(parameters, block, x, s, dropout)

    @property
    def _width(self) -> int:
        return self.model.hidden_widths[0]

    def _first_layer(self, parameters: Parameters, block: Any, dropout: DropoutStream | None) -> tuple[Tensor, Tensor]:
        """Return x^1 and s^1, [clients, nodes, width]."""
        from_x, from_s = parameters["conv1.first.weight"].split(self._width, dim=1)
        around, smooth = block.extra.split(self.encodings + 1, dim=2)
        start = torch.cat([parameters["structure.input.weight"], parameters["structure.input.bias"].unsqueeze(1)], 1)
        inner = self._share_of_features(parameters, block, from_x) + around @ (start @ from_s)
        convolution = start @ parameters["structure.conv1.weight"]
        s = torch.tanh(smooth @ convolution + parameters["structure.conv1.bias"].unsqueeze(1))
        return self._convolved(parameters, 1, inner, dropout), s

    def _share_of_features(self, parameters: Parameters, block: Any, from_x: Tensor) -> Tensor:
        """Return (A + I) x^0 times its rows of layer 1's weight, [clients, nodes, width]."""
        weight, bias = parameters["input.weight"], parameters["input.bias"]
        x = (block.first @ weight.reshape(-1, self._width)).view(block.clients, -1, self._width)
        x = (x + block.degrees * bias.unsqueeze(1)) @ from_x
        return x if block.spread is None else times(block.spread, x)

    def _convolved(self, parameters: Parameters, layer: int, inner: Tensor, dropout: DropoutStream | None) -> Tensor:
        """Return dropout(relu(W2 relu(inner + b1) + b2))."""
        inner = bias_relu_dropout(inner, parameters[f"conv{layer}.first.bias"])
        return _activated(parameters, f"conv{layer}.second", inner, dropout, layer)

    def _read_out(
        self, parameters: Parameters, block: Any, x: Tensor, s: Tensor, dropout: DropoutStream | None
    ) -> Tensor:
        from_x, from_s = parameters["joined.weight"].split(self._width, dim=1)
        nodes = times(block.pool, torch.ones_like(x[..., :1]))
        pooled = times(block.pool, x) @ from_x + times(block.pool, s) @ from_s
        pooled = pooled + nodes * parameters["joined.bias"].unsqueeze(1)
        over_graphs = replace(dropout, sizes=block.graph_sizes, slots=block.graph_slots) if dropout else None
        pooled = _activated(parameters, "post", pooled, over_graphs, len(self.model.hidden_widths) + 1)
        return stacked_linear(pooled, parameters["classifier.weight"]) + parameters["classifier.bias"].unsqueeze(1)


def normalised(around: SparseMatrix, dtype: torch.dtype) -> SparseMatrix:
    """Return D^-1/2 (A + I) D^-1/2 of the symmetric A + I, D its row sums."""
    counts = around.indptr.diff()
    inverse = counts.clamp(min=1).double().rsqrt()
    values = torch.repeat_interleave(inverse, counts) * inverse[around.indices]
    return own_transpose(SparseMatrix(around.indptr, around.indices, values.to(dtype), around.shape))


def _map(name: str, shape: tuple[int, int], weight: Initial, bias: Initial, private: bool) -> dict[str, Parameter]:
    return {f"{name}.weight": Parameter(shape, weight, private), f"{name}.bias": Parameter(shape[1:], bias, private)}


def _mapped(parameters: Parameters, name: str, x: Tensor) -> Tensor:
    return x @ parameters[f"{name}.weight"] + parameters[f"{name}.bias"].unsqueeze(1)


def _activated(parameters: Parameters, name: str, x: Tensor, dropout: DropoutStream | None, layer: int) -> Tensor:
    """Return dropout(relu(x W + b))."""
    keep = dropout.keep(layer, parameters[f"{name}.bias"].shape[1]) if dropout else None
    scale = dropout.scale if keep is not None and dropout else 1.0
    return bias_relu_dropout(x @ parameters[f"{name}.weight"], parameters[f"{name}.bias"], keep, scale)
