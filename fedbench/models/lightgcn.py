"""LightGCN: neighbours' vectors averaged over layers, without weights or activations (He et al., SIGIR 2020)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from fedbench.kernels.bipartite import Rows, mean_of_layers, rows_of_mean
from fedbench.models.parameters import Parameters
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork, flat


@dataclass(frozen=True)
class LightGCN(VectorNetwork):
    """E^(k+1) = D^(-1/2) A D^(-1/2) E^(k) (equation 7); final vectors are the mean over the layers 0 to K (8)."""

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the final vectors of the rows that a batch touches, and those of layer 0."""
        tables = flat(parameters[USERS]), flat(parameters[ITEMS])
        return rows_of_mean(batch.block.graph, self.model.layers, (batch.user_rows, batch.item_rows), *tables)

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, [clients, users, d] and [clients, items, d]."""
        users, items = parameters[USERS], parameters[ITEMS]
        final = mean_of_layers(block.graph, self.model.layers, flat(users), flat(items))
        return final[0].view_as(users), final[1].view_as(items)
