"""Trainable masks on weight matrices (FED-PUB, section 4.3): a layer multiplies with W * M instead of W."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import hardshrink

from fedbench.models.parameters import Parameter, Parameters, ones

_WEIGHT, _MASK = ".weight", ".mask"


@dataclass(frozen=True)
class Masks:
    """A mask of the same shape, starting at one, for every weight matrix; biases have none.

    Args:
        threshold: mask entries below it in magnitude are taken as zero at evaluation only (FED-PUB's code: 1e-3).
    """

    threshold: float = 0.0

    def parameters(self, declared: Mapping[str, Parameter]) -> dict[str, Parameter]:
        """Declare ``<layer>.mask`` for each ``<layer>.weight``."""
        return {
            name.removesuffix(_WEIGHT) + _MASK: Parameter(parameter.shape, ones)
            for name, parameter in declared.items()
            if name.endswith(_WEIGHT)
        }

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters with masks applied, entries of a mask within the threshold taken as zero."""
        applied = {name: value for name, value in parameters.items() if not is_mask(name)}
        for name, mask in parameters.items():
            if is_mask(name):
                weight = name.removesuffix(_MASK) + _WEIGHT
                applied[weight] = applied[weight] * self._kept(mask)
        return applied

    def _kept(self, mask: Tensor) -> Tensor:
        return hardshrink(mask, self.threshold) if self.threshold > 0 else mask


def is_mask(name: str) -> bool:
    """Tell whether a parameter is a mask."""
    return name.endswith(_MASK)


def masked(parameters: Parameters, layer: str) -> Tensor:
    """Return a layer's W * M, or W where it has no mask (any more, see `Masks.effective`)."""
    mask = parameters.get(f"{layer}{_MASK}")
    weight = parameters[f"{layer}{_WEIGHT}"]
    return weight if mask is None else weight * mask
