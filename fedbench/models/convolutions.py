"""Graph convolutions: what a layer declares, and what it computes before bias, ReLU and dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from torch import Tensor

from fedbench.models.network import GraphBlock, multiply, propagate
from fedbench.models.parameters import Parameter, fan_in_uniform, glorot, zeros

Weight = Callable[[str], Tensor]
"""Name of a matrix without ``.weight`` to its stack [clients, in, out], masks applied."""


class Convolution(Protocol):
    """A kind of graph convolution; ``layer`` counts from 1 and names the parameters ``conv<layer>...``."""

    def parameters(self, layer: int, incoming: int, width: int) -> dict[str, Parameter]:
        """Declare a layer's parameters; its bias is ``conv<layer>.bias``."""

    def apply(self, block: GraphBlock, layer: int, h: Tensor | None, weight: Weight) -> Tensor:
        """Return the layer's output without bias [clients, slots, width]; ``h`` is None in the first layer."""


class GCNConvolution:
    """S H W with S = D^-1/2 (A + I) D^-1/2 (Kipf & Welling, ICLR 2017, equation 2); Glorot start, as PyG's GCNConv."""

    def parameters(self, layer: int, incoming: int, width: int) -> dict[str, Parameter]:
        """Declare ``conv<l>.weight`` and ``conv<l>.bias``."""
        return {
            f"conv{layer}.weight": Parameter((incoming, width), glorot),
            f"conv{layer}.bias": Parameter((width,), zeros),
        }

    def apply(self, block: GraphBlock, layer: int, h: Tensor | None, weight: Weight) -> Tensor:
        """Return S (H W)."""
        return propagate(block, layer, multiply(block, h, weight(f"conv{layer}")))


class SAGEConvolution:
    """M H W + H W_root, M the mean over neighbours (Hamilton et al., NeurIPS 2017, mean aggregator).

    The sum of two maps is the paper's one map of the concatenation; torch's linear default start, as PyG's SAGEConv.
    """

    def parameters(self, layer: int, incoming: int, width: int) -> dict[str, Parameter]:
        """Declare ``conv<l>.weight`` (neighbours), ``conv<l>.root.weight`` (the node itself) and ``conv<l>.bias``."""
        start = fan_in_uniform(incoming)
        return {
            f"conv{layer}.weight": Parameter((incoming, width), start),
            f"conv{layer}.root.weight": Parameter((incoming, width), start),
            f"conv{layer}.bias": Parameter((width,), start),
        }

    def apply(self, block: GraphBlock, layer: int, h: Tensor | None, weight: Weight) -> Tensor:
        """Return M (H W) + H W_root."""
        neighbours = propagate(block, layer, multiply(block, h, weight(f"conv{layer}")))
        return neighbours + multiply(block, h, weight(f"conv{layer}.root"))


CONVOLUTIONS: dict[str, Convolution] = {"gcn": GCNConvolution(), "sage": SAGEConvolution()}
