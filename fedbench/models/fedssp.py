"""FedSSP's network (Tan et al., NeurIPS 2024; released model): messages weighed by learnt spectral filters.

x^0 = relu(X W + b). Layer l: x <- x + dropout(sum_j w_ij * gelu(x_j W + b)), w the filters' weights of the edges
(`fedbench.models.spectral`), then x <- x + dropout(relu(BN(relu(BN(x W + b)) W + b))). Mean over a graph's nodes: z.
Linear classifier on z + p, p the client's preference, where it takes part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import gelu

from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.edges import channel_sum
from fedbench.kernels.linear import stacked_linear
from fedbench.models.gin import times
from fedbench.models.linear_maps import linear_parameters
from fedbench.models.normalisation import BatchNorms, batch_norm_parameters
from fedbench.models.parameters import Parameter, Parameters, fan_in_uniform, zeros
from fedbench.models.spectral import DROPPED_HERE, Pass, SpectralFilters

PREFERENCE = "preference"


@dataclass(frozen=True)
class FedSSPNetwork:
    """Spectral filters, message layers, mean over nodes, classifier.

    Args:
        features: input width, the client's own.
        classes: output width, the client's own.
        layers: message layers.
        width: of everything in between.
        heads: new spectra a graph.
        dropout: probability, everywhere.
        preference: whether z + p is classified at evaluation, else z.
    """

    features: int
    classes: int
    layers: int
    width: int
    heads: int
    dropout: float
    preference: bool = True

    @property
    def filters(self) -> SpectralFilters:
        """The part that gives weights of edges."""
        return SpectralFilters(self.width, self.heads)

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare ``input`` and ``classifier``, which are private, ``conv<l>.*``, the filters' and the preference p."""
        width = self.width
        declared = linear_parameters("input", self.features, width, private=True) | self.filters.parameters()
        for layer in range(1, self.layers + 1):
            for part in ("message", "first", "second"):
                declared |= linear_parameters(f"conv{layer}.{part}", width, width)
            declared |= batch_norm_parameters(f"conv{layer}.first_norm", width)
            declared |= batch_norm_parameters(f"conv{layer}.second_norm", width)
        start = fan_in_uniform(width)
        return declared | {
            "classifier.weight": Parameter((self.classes, width), start, private=True),
            "classifier.bias": Parameter((self.classes,), start, private=True),
            PREFERENCE: Parameter((width,), zeros, private=True),
        }

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters unchanged."""
        return parameters

    def forward(self, parameters: Parameters, block: Any, dropout: DropoutStream | None) -> Tensor:
        """Return logits [clients, graphs, classes] as at evaluation: running statistics unless there is dropout."""
        pooled, _ = self.pooled(parameters, block, dropout)
        return self.classified(parameters, pooled, preferred=self.preference)

    def classified(self, parameters: Parameters, pooled: Tensor, *, preferred: bool) -> Tensor:
        """Return logits of graphs' z [clients, graphs, width], or of z + p."""
        seen = pooled + parameters[PREFERENCE].unsqueeze(1) if preferred else pooled
        return stacked_linear(seen, parameters["classifier.weight"]) + parameters["classifier.bias"].unsqueeze(1)

    def pooled(
        self, parameters: Parameters, block: Any, dropout: DropoutStream | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return z [clients, graphs, width], 0 for padding, and what running statistics are after this batch.

        ``block``: a `fedbench.tasks.graph.spectra.SpectralBatch`. ``dropout``: None at evaluation, when batch norm goes
        by its running statistics.
        """
        stream = replace(dropout, probability=self.dropout) if dropout else None
        run = Pass(parameters, block, stream, BatchNorms(parameters, training=dropout is not None))
        weights, x = self.filters.weights(run), self._input(run)
        for layer in range(1, self.layers + 1):
            x = self._layer(run, layer, weights, x)
        return times(block.pool, x) / block.nodes, run.norms.found

    def _input(self, run: Pass) -> Tensor:
        weight, bias = run.parameters["input.weight"], run.parameters["input.bias"]
        x = (run.block.first @ weight.reshape(-1, self.width)).view(len(weight), -1, self.width)
        return torch.relu(x + bias.unsqueeze(1))

    def _layer(self, run: Pass, layer: int, weights: Tensor, x: Tensor) -> Tensor:
        name, place = f"conv{layer}", DROPPED_HERE + 2 * layer - 1
        sent = gelu(run.linear(f"{name}.message", x)).flatten(0, 1)
        x = run.plus_dropped(x, place, channel_sum(run.block.edges, weights, sent).view_as(x))
        h = torch.relu(run.norms(f"{name}.first_norm", run.linear(f"{name}.first", x), run.block.sizes))
        h = torch.relu(run.norms(f"{name}.second_norm", run.linear(f"{name}.second", h), run.block.sizes))
        return run.plus_dropped(x, place + 1, h)
