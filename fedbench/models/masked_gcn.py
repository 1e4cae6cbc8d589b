"""GCN whose weight matrices are multiplied elementwise by trainable masks (FED-PUB, section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import hardshrink

from fedbench.models.gcn import GCN
from fedbench.models.parameters import Parameter, Parameters, glorot, glorot_bias, ones


@dataclass(frozen=True)
class MaskedGCN(GCN):
    """`GCN` with W replaced by W * M for a mask M of the same shape, one per weight matrix (biases have none).

    Args:
        mask_threshold: mask entries below it in magnitude are taken as zero at evaluation only (released code: 1e-3).
    """

    mask_threshold: float = 0.0

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare a GCN's parameters and ``<layer>.mask`` for each ``<layer>.weight``, starting at one."""
        declared = dict(super().parameters())
        masks = {
            name.replace(".weight", ".mask"): Parameter(parameter.shape, ones)
            for name, parameter in declared.items()
            if name.endswith(".weight")
        }
        return declared | masks

    def classifier(self, incoming: int) -> dict[str, Parameter]:
        """Declare the masked linear readout; released code starts its weight and bias by Glorot's rule."""
        return {
            "classifier.weight": Parameter((self.classes, incoming), glorot),
            "classifier.bias": Parameter((self.classes,), glorot_bias),
        }

    def weight(self, parameters: Parameters, layer: str) -> Tensor:
        """Return W * M, or W where the mask has already been applied (`effective`)."""
        mask = parameters.get(f"{layer}.mask")
        weight = parameters[f"{layer}.weight"]
        return weight if mask is None else weight * mask

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters with masks applied, entries of a mask within the threshold taken as zero."""
        applied = {name: value for name, value in parameters.items() if not name.endswith(".mask")}
        for name, mask in parameters.items():
            if name.endswith(".mask"):
                weight = name.removesuffix(".mask") + ".weight"
                applied[weight] = applied[weight] * self._kept(mask)
        return applied

    def _kept(self, mask: Tensor) -> Tensor:
        return hardshrink(mask, self.mask_threshold) if self.mask_threshold > 0 else mask
