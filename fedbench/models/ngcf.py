"""NGCF: neighbours' vectors and their products with one's own, transformed and activated (Wang et al., SIGIR 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu, normalize

from fedbench.kernels.bipartite import Rows
from fedbench.models.parameters import Parameter, Parameters, glorot
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork, flat

SLOPE = 0.2  # of the leaky ReLU; TensorFlow's default, the paper gives none


@dataclass(frozen=True)
class NGCF(VectorNetwork):
    """E^(l) = LeakyReLU((L + I) E^(l-1) W1 + L E^(l-1) * E^(l-1) W2), L = D^(-1/2) A D^(-1/2) (equation 7).

    The final vector is E^(0) and each layer's output, scaled to length 1 as in the released code, one after another
    (equation 9). The released code also has biases, activates both terms apart, and takes D^(-1) (A + I) for L + I.
    The weights ``layer<l>.first.weight`` and ``.second.weight`` [d, d] may leave a client, the tables may not.
    """

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables, then two matrices a layer, from Glorot's rule."""
        width = self.model.hidden_widths[0]
        names = (f"layer{layer}.{part}.weight" for layer in range(1, self.model.layers + 1) for part in _PARTS)
        return {**super().parameters(), **{name: Parameter((width, width), glorot) for name in names}}

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the final vectors of the rows that a batch touches, and those of layer 0."""
        chosen, width = (batch.user_rows, batch.item_rows), self.model.hidden_widths[0]
        final = self.tables(parameters, batch.block)
        users, items = (flat(table).index_select(0, rows) for table, rows in zip(final, chosen, strict=True))
        return Rows(users, items, users[:, :width], items[:, :width])

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, [clients, users, (layers + 1) d] and items likewise."""
        users, items = parameters[USERS], parameters[ITEMS]
        found = [(users, items)]
        for layer in range(1, self.model.layers + 1):
            near_users = (block.graph @ flat(items)).view_as(users)
            near_items = (block.graph.transposed @ flat(users)).view_as(items)
            weights = parameters[f"layer{layer}.first.weight"], parameters[f"layer{layer}.second.weight"]
            users, items = _layer(users, near_users, *weights), _layer(items, near_items, *weights)
            found.append((normalize(users, dim=2), normalize(items, dim=2)))
        final_users, final_items = (torch.cat(parts, dim=2) for parts in zip(*found, strict=True))
        return final_users, final_items


_PARTS = ("first", "second")


def _layer(own: Tensor, near: Tensor, first: Tensor, second: Tensor) -> Tensor:
    return leaky_relu((near + own) @ first + (near * own) @ second, SLOPE)
