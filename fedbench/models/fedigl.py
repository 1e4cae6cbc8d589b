"""FedIGL's networks (Wang et al., NeurIPS 2025): a subgraph generator, two global encoders, one private encoder.

Every encoder is the protocol's GIN on edges with weights m:
    x <- dropout(relu(W2 relu(W1 (x_i + sum_j m_ij x_j) + b1) + b2)), then the sum over nodes.
The client's own are an input layer and an end (linear, ReLU, dropout, linear) for the global part, and another of both
for the private one. With h_inv = f_I(G_I), h_var = f_V(G_V), h_spec = f_C(G_V):
    global logits end(h_inv + h_var), the client's logits own_end(h_inv + h_spec)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from fedbench.configuration.protocol import ModelSettings
from fedbench.kernels.activation import bias_relu_dropout
from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.edges import weighted_sum
from fedbench.models.gin import times
from fedbench.models.linear_maps import linear_parameters
from fedbench.models.parameters import Parameter, Parameters
from fedbench.models.subgraphs import Cut, Mask, cut, edge_scores

INVARIANT, VARIANT = "invariant.", "variant."
SHARED = ("generator.", INVARIANT, VARIANT)
_OWN = "own."
_ENCODERS = (INVARIANT, VARIANT, _OWN)


class Invariant(NamedTuple):
    """What both logits begin with.

    ``entered``: X W + b of the global part [clients, nodes, width]. ``parts``: the cut of all graphs. ``pooled``: h_inv
    [clients, graphs, width].
    """

    entered: Tensor
    parts: Cut
    pooled: Tensor


@dataclass(frozen=True)
class FedIGLNetwork:
    """Generator, encoders f_I, f_V, f_C and ends of a client.

    Args:
        features: input width, the client's own.
        classes: output width, the client's own.
        model: layers, width, dropout of every encoder.
        generator_layers: convolutions of the generator, without dropout.
        share: tau, share of the edges in G_I.
        mask: how the choice of edges passes gradients.
        incident: whether the sum over nodes is over those with an edge in the part, else over all.
    """

    features: int
    classes: int
    model: ModelSettings
    generator_layers: int
    share: float
    mask: Mask
    incident: bool

    @property
    def _width(self) -> int:
        return self.model.hidden_widths[0]

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare ``generator.*``, ``invariant.*``, ``variant.*``, which are shared, ``own.*`` and the global ends.

        Weights are stored [in, out].
        """
        width, layers = self._width, len(self.model.hidden_widths)
        declared = _convolutions("generator.", self.generator_layers, width)
        declared |= linear_parameters("generator.pair", 2 * width, width) | linear_parameters(
            "generator.score", width, 1
        )
        for encoder in _ENCODERS:
            declared |= _convolutions(encoder, layers, width)
        for part in ("", _OWN):
            declared |= linear_parameters(f"{part}input", self.features, width, private=True)
            declared |= linear_parameters(f"{part}post", width, width, private=True)
            declared |= linear_parameters(f"{part}readout", width, self.classes, private=True)
        return declared

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters unchanged."""
        return parameters

    def forward(self, parameters: Parameters, block: Any, dropout: DropoutStream | None) -> Tensor:
        """Return the client's own logits [clients, graphs, classes].

        ``block``: a `fedbench.tasks.graph.coloured_edges.ColouredBatch`, its colours those of the generator's layers.
        """
        return self.own_logits(parameters, block, self.invariant(parameters, block, dropout), dropout)

    def invariant(self, parameters: Parameters, block: Any, dropout: DropoutStream | None) -> Invariant:
        """Return the cut of all graphs, and h_inv."""
        x = self._entered(parameters, "", block)
        scores = edge_scores(parameters, block, self._generated(parameters, block.colours))
        parts = cut(scores, block, self.share, self.mask)
        return Invariant(x, parts, self._encoded(parameters, INVARIANT, block, x, parts, dropout))

    def _generated(self, parameters: Parameters, colours: Any) -> Tensor:
        """Return the generator's z of every colour, [clients, colours, width]: no weights of edges, no dropout."""
        z = self._entered(parameters, "", colours)
        for layer in range(1, self.generator_layers + 1):
            z = times(colours.neighbours(layer), z) if layer > 1 else z
            z = _mapped(parameters, f"generator.conv{layer}", z, None)
        return z

    def global_logits(
        self, parameters: Parameters, block: Any, invariant: Invariant, dropout: DropoutStream | None
    ) -> Tensor:
        """Return end(h_inv + h_var), [clients, graphs, classes]."""
        variant = self._encoded(parameters, VARIANT, block, invariant.entered, invariant.parts, dropout)
        return self._end(parameters, "", block, invariant.pooled + variant, dropout)

    def own_logits(
        self, parameters: Parameters, block: Any, invariant: Invariant, dropout: DropoutStream | None
    ) -> Tensor:
        """Return own_end(h_inv + h_spec), [clients, graphs, classes]; no gradient reaches the global part."""
        x = self._entered(parameters, _OWN, block)
        specific = self._encoded(parameters, _OWN, block, x, invariant.parts.constant, dropout)
        return self._end(parameters, _OWN, block, invariant.pooled.detach() + specific, dropout)

    def _entered(self, parameters: Parameters, part: str, block: Any) -> Tensor:
        """Return X W + b, [clients, nodes, width]; where rows are colours (A + I) (X W + b)."""
        weight, bias = parameters[f"{part}input.weight"], parameters[f"{part}input.bias"]
        x = (block.first @ weight.reshape(-1, self._width)).view(len(weight), -1, self._width)
        return x + block.degrees * bias.unsqueeze(1)

    def _encoded(
        self, parameters: Parameters, encoder: str, block: Any, x: Tensor, parts: Cut, dropout: DropoutStream | None
    ) -> Tensor:
        """Return an encoder's representation of its part of every graph, [clients, graphs, width]."""
        weights, layers = parts.invariant if encoder == INVARIANT else parts.variant, len(self.model.hidden_widths)
        for layer in range(1, layers + 1):
            place = _ENCODERS.index(encoder) * layers + layer
            keep = dropout.keep(place, self._width) if dropout else None
            x = _convolved(parameters, f"{encoder}conv{layer}", block, x, weights, keep, _scale(dropout))
        if self.incident:
            within = parts.chosen if encoder == INVARIANT else ~parts.chosen
            x = x * (block.edges.incoming(within.to(x.dtype).unsqueeze(1)) > 0).view(*x.shape[:2], 1)
        return times(block.pool, x)

    def _end(
        self, parameters: Parameters, part: str, block: Any, pooled: Tensor, dropout: DropoutStream | None
    ) -> Tensor:
        over_graphs = replace(dropout, sizes=block.graph_sizes, slots=block.graph_slots) if dropout else None
        place = len(_ENCODERS) * len(self.model.hidden_widths) + (1 if part == "" else 2)
        keep = over_graphs.keep(place, self._width) if over_graphs else None
        h = pooled @ parameters[f"{part}post.weight"]
        h = bias_relu_dropout(h, parameters[f"{part}post.bias"], keep, _scale(dropout) if keep is not None else 1.0)
        return torch.baddbmm(parameters[f"{part}readout.bias"].unsqueeze(1), h, parameters[f"{part}readout.weight"])


def _convolutions(prefix: str, layers: int, width: int) -> dict[str, Parameter]:
    declared: dict[str, Parameter] = {}
    for layer in range(1, layers + 1):
        for part in ("first", "second"):
            declared |= linear_parameters(f"{prefix}conv{layer}.{part}", width, width)
    return declared


def _convolved(
    parameters: Parameters, name: str, block: Any, x: Tensor, weights: Tensor, keep: Tensor | None, scale: float = 1.0
) -> Tensor:
    """Return dropout(relu(W2 relu(W1 (x_i + sum_j m_ij x_j) + b1) + b2))."""
    x = x + weighted_sum(block.edges, weights, x.flatten(0, 1)).view_as(x)
    return _mapped(parameters, name, x, keep, scale)


def _mapped(parameters: Parameters, name: str, x: Tensor, keep: Tensor | None, scale: float = 1.0) -> Tensor:
    """Return dropout(relu(W2 relu(W1 x + b1) + b2))."""
    x = bias_relu_dropout(x @ parameters[f"{name}.first.weight"], parameters[f"{name}.first.bias"])
    factor = scale if keep is not None else 1.0
    return bias_relu_dropout(x @ parameters[f"{name}.second.weight"], parameters[f"{name}.second.bias"], keep, factor)


def _scale(dropout: DropoutStream | None) -> float:
    return dropout.scale if dropout else 1.0
