"""LCFN: two-dimensional low-pass filters on the hypergraphs of users and of items (Yu and Qin, ICML 2020).

    U^(l+1) = sigmoid(P diag(k_U) P^T U^(l) W),  V^(l+1) = sigmoid(Q diag(k_V) Q^T V^(l) W)

with P and Q the lowest frequencies of both hypergraphs (`fedbench.kernels.hypergraph`) and the same W on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.kernels.bipartite import Rows
from fedbench.kernels.hypergraph import HypergraphBases, hypergraph_bases
from fedbench.models.parameters import Parameter, Parameters
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork, normal_of
from fedbench.models.whole_tables import rows_of_tables


@dataclass(frozen=True)
class LCFN(VectorNetwork):
    """Final vectors are those of all layers one after another; scores are their inner products.

    The kernels ``layer<l>.users.weight`` [F_u] and ``.items.weight`` [F_i] and the matrix ``layer<l>.both.weight``
    [d, d] may leave a client, the tables may not.
    """

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables; a layer's kernels from N(1, 0.001^2) and matrix from N(0.01, 0.02^2), as released."""
        width, lcfn = self.model.hidden_widths[0], self.model.embedding.lcfn
        of_layer = {
            "users": Parameter((lcfn.users,), normal_of(0.001, mean=1.0)),
            "items": Parameter((lcfn.items,), normal_of(0.001, mean=1.0)),
            "both": Parameter((width, width), normal_of(0.02, mean=0.01)),
        }
        layers = range(1, self.model.layers + 1)
        named = {f"layer{layer}.{part}.weight": p for layer in layers for part, p in of_layer.items()}
        return {**super().parameters(), **named}

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the final vectors of the rows that a batch touches, and those of layer 0."""
        return rows_of_tables(self.tables(parameters, batch.block), parameters, batch)

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, [clients, users, (layers + 1) d] and items likewise."""
        bases = block.once("hypergraph", lambda: self._bases(block))
        found = [(parameters[USERS], parameters[ITEMS])]
        for layer in range(1, self.model.layers + 1):
            users, items, both = (parameters[f"layer{layer}.{part}.weight"] for part in ("users", "items", "both"))
            near_users = _filtered(bases.users, users, found[-1][0]) @ both
            near_items = _filtered(bases.items, items, found[-1][1]) @ both
            found.append((torch.sigmoid(near_users), torch.sigmoid(near_items)))
        final_users, final_items = (torch.cat(parts, dim=2) for parts in zip(*found, strict=True))
        return final_users, final_items

    def _bases(self, block: RecBlock) -> HypergraphBases:
        lcfn, like = self.model.embedding.lcfn, block.tensor(0.0)
        return hypergraph_bases(block.taken, lcfn.users, lcfn.items, like.dtype, like.device)


def _filtered(basis: Tensor, kernel: Tensor, table: Tensor) -> Tensor:
    """Return P diag(k) P^T X, [clients, rows, d]."""
    return basis @ (kernel.unsqueeze(2) * (basis.mT @ table))
