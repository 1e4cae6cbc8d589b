"""A network without parameters that answers with the client's most frequent training class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from fedbench.kernels.dropout import DropoutStream
from fedbench.models.network import GraphBlock
from fedbench.models.parameters import Parameter, Parameters


@dataclass(frozen=True)
class MajorityClass:
    """Logits are the counts of the client's training classes, the same for every node; ties go to the lowest class."""

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare nothing: there is nothing to train."""
        return {}

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters unchanged."""
        return parameters

    def forward(self, parameters: Parameters, block: GraphBlock, dropout: DropoutStream | None) -> Tensor:
        """Return logits [clients, slots, classes]."""
        return block.train_counts.unsqueeze(1).expand(-1, block.slots, -1)
