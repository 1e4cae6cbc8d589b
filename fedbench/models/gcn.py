"""Graph convolutional network (Kipf & Welling 2017) over a packed block, with an optional mask on every weight matrix.

Layer: H' = dropout(relu(S H W + b)) with S = D^-1/2 (A + I) D^-1/2. The readout is a linear classifier (FED-PUB's
released model: conv, conv, linear) or one more convolution (the original model: the last convolution gives the logits).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from fedbench.kernels.activation import bias_relu_dropout
from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.linear import stacked_linear
from fedbench.models.network import GraphBlock
from fedbench.models.parameters import Parameter, Parameters, fan_in_uniform, glorot, zeros

Readout = Literal["linear", "convolution"]


@dataclass(frozen=True)
class GCN:
    """Plain GCN.

    Args:
        features: input width.
        classes: output width.
        layers: graph convolutions, the readout's included if it is one.
        width: hidden width.
        dropout: probability after every hidden activation.
        readout: ``linear`` or ``convolution``.
    """

    features: int
    classes: int
    layers: int
    width: int
    dropout: float
    readout: Readout

    @property
    def hidden_layers(self) -> int:
        """Convolutions followed by ReLU and dropout."""
        return self.layers if self.readout == "linear" else self.layers - 1

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare ``conv<l>.weight``, ``conv<l>.bias``, ``classifier.weight`` and ``classifier.bias``."""
        declared: dict[str, Parameter] = {}
        incoming = self.features
        for layer in range(1, self.hidden_layers + 1):
            declared[f"conv{layer}.weight"] = Parameter((incoming, self.width), glorot)
            declared[f"conv{layer}.bias"] = Parameter((self.width,), zeros)
            incoming = self.width
        return declared | self.classifier(incoming)

    def classifier(self, incoming: int) -> dict[str, Parameter]:
        """Declare the readout on ``incoming`` features; its weight is stored [classes, incoming]."""
        shape = (self.classes, incoming)
        if self.readout == "convolution":
            return {
                "classifier.weight": Parameter(shape, glorot),
                "classifier.bias": Parameter((self.classes,), zeros),
            }
        start = fan_in_uniform(incoming)
        return {
            "classifier.weight": Parameter(shape, start),
            "classifier.bias": Parameter((self.classes,), start),
        }

    def weight(self, parameters: Parameters, layer: str) -> Tensor:
        """Return the weights a layer multiplies with: [clients, in, out], the classifier's [clients, out, in]."""
        return parameters[f"{layer}.weight"]

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters as they are at evaluation."""
        return parameters

    def hidden(self, parameters: Parameters, block: GraphBlock, dropout: DropoutStream | None) -> Tensor:
        """Return the last hidden representation H [clients, slots, width]."""
        h: Tensor | None = None
        for layer in range(1, self.hidden_layers + 1):
            weight = self.weight(parameters, f"conv{layer}")
            x = propagate(block, multiply_features(block, weight) if h is None else h @ weight)
            keep = dropout.keep(layer, self.width) if dropout else None
            scale = dropout.scale if keep is not None and dropout else 1.0
            h = bias_relu_dropout(x, parameters[f"conv{layer}.bias"], keep, scale)
        if h is None:
            raise ValueError("a network needs at least one hidden layer")
        return h

    def forward(self, parameters: Parameters, block: GraphBlock, dropout: DropoutStream | None) -> Tensor:
        """Return logits [clients, slots, classes]."""
        return self.read_out(parameters, block, self.hidden(parameters, block, dropout))

    def read_out(self, parameters: Parameters, block: GraphBlock, h: Tensor) -> Tensor:
        """Return logits from a representation [clients, slots, incoming]."""
        out = stacked_linear(h, self.weight(parameters, "classifier"))
        if self.readout == "convolution":
            out = propagate(block, out)
        return out + parameters["classifier.bias"].unsqueeze(1)


def multiply_features(block: GraphBlock, weight: Tensor) -> Tensor:
    """Return X W for every packed client: sparse features, ``weight`` [clients, features, width]."""
    return (block.features @ weight.reshape(-1, weight.shape[2])).view(block.clients, block.slots, -1)


def propagate(block: GraphBlock, x: Tensor) -> Tensor:
    """Return S x for every packed client, ``x`` [clients, slots, width]."""
    return (block.adjacency @ x.reshape(-1, x.shape[2])).view_as(x)
