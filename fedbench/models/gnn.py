"""The clients' network: graph convolutions, a head, a readout; with or without local masks.

Layer: H' = dropout(relu(convolution(H) + b)). The head says what the readout sees of the last H (`models/heads.py`).
The readout is a linear classifier (FED-PUB's released model: conv, conv, linear) or one more convolution (Kipf &
Welling's model: the last convolution gives the logits).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from torch import Tensor

from fedbench.configuration.protocol import ModelSettings
from fedbench.kernels.activation import bias_relu_dropout
from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.linear import stacked_linear
from fedbench.models.convolutions import CONVOLUTIONS
from fedbench.models.heads import Head, PlainHead
from fedbench.models.masks import Masks, masked
from fedbench.models.network import GraphBlock, propagate
from fedbench.models.parameters import Initial, Parameter, Parameters, fan_in_uniform, glorot, glorot_bias, zeros


@dataclass(frozen=True)
class GNN:
    """A graph network as `ModelSettings` describes it.

    Args:
        features: input width.
        classes: output width.
        model: backbone, widths, dropout, readout.
        head: what the readout sees.
        masks: local masks, or None.
    """

    features: int
    classes: int
    model: ModelSettings
    head: Head = field(default_factory=PlainHead)
    masks: Masks | None = None

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the convolutions' parameters, the head's, ``classifier.weight`` and ``.bias``, then the masks."""
        declared: dict[str, Parameter] = {}
        incoming = self.features
        for layer, width in enumerate(self.model.hidden_widths, 1):
            declared |= CONVOLUTIONS[self.model.backbone].parameters(layer, incoming, width)
            incoming = width
        declared |= self.head.parameters(incoming) | self._classifier(self.head.parts * incoming)
        return declared | (self.masks.parameters(declared) if self.masks else {})

    def _classifier(self, incoming: int) -> dict[str, Parameter]:
        """Declare the readout; its weight is stored [classes, incoming].

        FED-PUB's code starts a masked linear readout by Glorot's rule and a plain one by torch's default.
        """
        starts: tuple[Initial, Initial] = (fan_in_uniform(incoming), fan_in_uniform(incoming))
        if self.masks:
            starts = (glorot, glorot_bias)
        elif self.model.readout == "convolution":
            starts = (glorot, zeros)
        return {
            "classifier.weight": Parameter((self.classes, incoming), starts[0]),
            "classifier.bias": Parameter((self.classes,), starts[1]),
        }

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters as they are at evaluation."""
        return self.masks.effective(parameters) if self.masks else parameters

    def forward(self, parameters: Parameters, block: GraphBlock, dropout: DropoutStream | None) -> Tensor:
        """Return logits [clients, slots, classes]."""
        return self.read_out(parameters, block, self.hidden(parameters, block, dropout))

    def hidden(self, parameters: Parameters, block: GraphBlock, dropout: DropoutStream | None) -> Tensor:
        """Return the last hidden representation H [clients, slots, width]."""
        return self.layers(parameters, block, dropout)[-1]

    def layers(self, parameters: Parameters, block: GraphBlock, dropout: DropoutStream | None) -> list[Tensor]:
        """Return the output of every hidden layer, [clients, slots, width]."""
        outputs: list[Tensor] = []
        for layer, width in enumerate(self.model.hidden_widths, 1):
            incoming = self.passed_on(block, layer - 1, outputs[-1]) if outputs else None
            convolution = CONVOLUTIONS[self.model.backbone]
            x = convolution.apply(block, layer, incoming, partial(masked, parameters))
            keep = dropout.keep(layer, width) if dropout else None
            scale = dropout.scale if keep is not None and dropout else 1.0
            outputs.append(bias_relu_dropout(x, parameters[f"conv{layer}.bias"], keep, scale))
        return outputs

    def passed_on(self, block: GraphBlock, layer: int, h: Tensor) -> Tensor:
        """Return what the next layer sees of a layer's output; a method may put in what other clients sent."""
        return h

    def read_out(self, parameters: Parameters, block: GraphBlock, h: Tensor) -> Tensor:
        """Return logits from the last hidden representation [clients, slots, width]."""
        seen = self.head.seen(parameters, block, h)
        weights = masked(parameters, "classifier").split(h.shape[2], dim=2)
        out = sum_of([stacked_linear(part, weight) for part, weight in zip(seen, weights, strict=True)])
        if self.model.readout == "convolution":
            out = propagate(block, self.model.layers, out)
        return out + parameters["classifier.bias"].unsqueeze(1)


def sum_of(parts: list[Tensor]) -> Tensor:
    """Return the sum of one tensor or more."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
