"""What a network is: declared parameters and a pure forward function over a packed block of clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from torch import Tensor

from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.features import ClientFeatures
from fedbench.kernels.sparse import SparseMatrix
from fedbench.models.parameters import Parameter, Parameters


class GraphBlock(Protocol):
    """The graphs of the clients that are computed in one step, padded to ``slots`` nodes each.

    Node ``i`` of packed client ``b`` is row ``b * slots + i`` of block-diagonal matrices.
    """

    @property
    def clients(self) -> int:
        """Packed clients."""

    @property
    def slots(self) -> int:
        """Nodes a client after padding."""

    @property
    def features(self) -> ClientFeatures:
        """The clients' features, [clients, slots, feature width]."""

    def propagation(self, layer: int) -> SparseMatrix:
        """Block-diagonal propagation matrix [clients * slots, clients * slots] of a layer; padding has empty rows."""

    @property
    def present(self) -> Tensor:
        """[clients, slots]: 1 for a node, 0 for padding."""

    @property
    def train_counts(self) -> Tensor:
        """[clients, classes]: training nodes of each class."""


class Network(Protocol):
    """A client's network. One object serves all clients: their parameters are stacked, [clients, *shape]."""

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the trainable parameters of one client."""

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters as they are at evaluation (masks applied, say); `forward` takes them too."""

    def forward(self, parameters: Parameters, block: GraphBlock, dropout: DropoutStream | None) -> Tensor:
        """Return logits [clients, slots, classes]; ``dropout`` is None at evaluation."""


def propagate(block: GraphBlock, layer: int, x: Tensor) -> Tensor:
    """Return P x for every packed client, P the layer's propagation matrix, ``x`` [clients, slots, width]."""
    return (block.propagation(layer) @ x.reshape(-1, x.shape[2])).view_as(x)


def multiply(block: GraphBlock, h: Tensor | None, weight: Tensor) -> Tensor:
    """Return h W for every packed client, X W from the features where ``h`` is None.

    Args:
        block: the packed clients.
        h: [clients, slots, in], or None.
        weight: [clients, in, out].
    """
    return block.features @ weight if h is None else h @ weight
