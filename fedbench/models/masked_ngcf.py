"""NGCF with a local mask on each of its weight matrices, none on the vectors (FED-PUB for recommendation)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor

from fedbench.models.masks import Masks
from fedbench.models.ngcf import NGCF
from fedbench.models.parameters import Parameter, Parameters
from fedbench.models.ranking import RecBlock


@dataclass(frozen=True)
class MaskedNGCF(NGCF):
    """NGCF that multiplies with W * M instead of W; ``masks`` says which entries of M count as zero at evaluation."""

    masks: Masks = field(default_factory=Masks)

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare NGCF's parameters, then a mask a matrix."""
        declared = super().parameters()
        matrices = {name: parameter for name, parameter in declared.items() if name.startswith("layer")}
        return {**declared, **self.masks.parameters(matrices)}

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters with masks applied, small entries taken as zero."""
        return self.masks.effective(parameters)

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, masks applied where there still are any."""
        return super().tables(Masks().effective(parameters), block)
