"""A network without parameters that answers with the client's most frequent training class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from torch import Tensor

from fedbench.kernels.dropout import DropoutStream
from fedbench.models.gin import GraphBatch
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


@dataclass(frozen=True)
class MajorityOfGraphs(MajorityClass):
    """The same for every graph of a batch."""

    def forward(self, parameters: Parameters, block: GraphBlock, dropout: DropoutStream | None) -> Tensor:
        """Return logits [clients, graph slots, classes]; ``block`` is a `fedbench.tasks.graph.block.Batch`."""
        batch = cast(GraphBatch, block)
        return batch.train_counts.unsqueeze(1).expand(-1, batch.graph_slots, -1)
