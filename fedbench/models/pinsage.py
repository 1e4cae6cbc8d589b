"""PinSage: weighted means over the neighbours that random walks visit most (Ying et al., KDD 2018, algorithm 1).

    n_v = sum_u alpha_vu ReLU(Q h_u + q),  h_v <- ReLU(W [h_v | n_v] + w),  h_v <- h_v / ||h_v||

u runs over the most visited nodes, users and items alike, alpha are their shares of the visits. Walks are taken once
for a client's graph, from a stream that its size names: like a low-pass basis they belong to the data, not to a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import normalize

from fedbench import seeds as streams
from fedbench.kernels.bipartite import Rows
from fedbench.kernels.sparse import SparseMatrix, from_rows
from fedbench.kernels.visits import important_neighbours
from fedbench.models.parameters import Parameter, Parameters, glorot, zeros
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork
from fedbench.models.whole_tables import rows_of_tables


@dataclass(frozen=True)
class PinSage(VectorNetwork):
    """Final vectors are the last layer's, of width d, or with a head G2 ReLU(G1 h + g) of them (algorithm 2).

    ``layer<l>.near``, ``layer<l>.both`` and ``head.*`` may leave a client, the tables may not.
    """

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables, then a layer's Q [d, h], q, W [d + h, d] and w, weights from Glorot's rule."""
        width = self.model.hidden_widths[0]
        near = self.model.embedding.pinsage.hidden * width
        of_layer = {
            "near.weight": Parameter((width, near), glorot),
            "near.bias": Parameter((near,), zeros),
            "both.weight": Parameter((width + near, width), glorot),
            "both.bias": Parameter((width,), zeros),
        }
        layers = range(1, self.model.layers + 1)
        named = {f"layer{n}.{part}": p for n in layers for part, p in of_layer.items()}
        return {**super().parameters(), **named, **self._head(width)}

    def _head(self, width: int) -> Mapping[str, Parameter]:
        """Declare G1, g and G2, if there is a head."""
        square = Parameter((width, width), glorot)
        head = {"first.weight": square, "first.bias": Parameter((width,), zeros), "second.weight": square}
        return {f"head.{part}": p for part, p in head.items() if self.model.embedding.pinsage.head}

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the final vectors of the rows that a batch touches, and those of layer 0."""
        return rows_of_tables(self.tables(parameters, batch.block), parameters, batch)

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, [clients, users, d] and [clients, items, d]."""
        graph = block.once("importance", lambda: self._importance(block))
        h = torch.cat([parameters[USERS], parameters[ITEMS]], dim=1)
        for layer in range(1, self.model.layers + 1):
            part = {name: parameters[f"layer{layer}.{name}"] for name in _PARTS}
            sent = torch.relu(h @ part["near.weight"] + part["near.bias"].unsqueeze(1))
            near = (graph @ sent.flatten(0, 1)).view_as(sent)
            both = torch.cat([h, near], dim=2) @ part["both.weight"] + part["both.bias"].unsqueeze(1)
            h = normalize(torch.relu(both), dim=2)
        if self.model.embedding.pinsage.head:
            inner = torch.relu(h @ parameters["head.first.weight"] + parameters["head.first.bias"].unsqueeze(1))
            h = inner @ parameters["head.second.weight"]
        users, items = h.split([parameters[USERS].shape[1], parameters[ITEMS].shape[1]], dim=1)
        return users, items

    def _importance(self, block: RecBlock) -> SparseMatrix:
        """Return alpha of every packed client, block-diagonal; users are a client's first nodes."""
        known: dict[int, sparse.csr_matrix] = {}
        for taken in block.taken:
            if id(taken) not in known:
                known[id(taken)] = self._neighbours(taken)
        found, like = [known[id(taken)] for taken in block.taken], block.tensor(0.0)
        starts, columns = ([getattr(each, part).astype(np.int64) for each in found] for part in ("indptr", "indices"))
        values = [each.data for each in found]
        return from_rows(starts, columns, values, found[0].shape, dtype=like.dtype, device=like.device)

    def _neighbours(self, taken: sparse.csr_matrix) -> sparse.csr_matrix:
        own, random = self.model.embedding.pinsage, streams.generator("pinsage", *taken.shape, taken.nnz)
        return important_neighbours(taken, own.walks, own.steps, own.neighbours, random)


_PARTS = ("near.weight", "near.bias", "both.weight", "both.bias")
