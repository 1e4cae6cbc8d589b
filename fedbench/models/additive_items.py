"""Items with a common and a local vector, added up (FedRAP, ICLR 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import Tensor

from fedbench.kernels.bipartite import Rows, rows_of_mean
from fedbench.models.parameters import Parameter, Parameters
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork, flat

LOCAL = "local.weight"


@dataclass(frozen=True)
class AdditiveItems(VectorNetwork):
    """y_ui = a_u . (C_i + D_i): C is ``item.weight``, whose rows may leave a client; D, ``local.weight``, stays."""

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare users, C and D; D starts like C, from a stream of its own."""
        declared = super().parameters()
        return {**declared, LOCAL: replace(declared[ITEMS], by_row=False)}

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return a_u and C_i + D_i of the rows that a batch touches."""
        users, items = self.tables(parameters, batch.block)
        return rows_of_mean(None, 0, (batch.user_rows, batch.item_rows), flat(users), flat(items))

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return a [clients, users, d] and C + D [clients, items, d]."""
        return parameters[USERS], parameters[ITEMS] + parameters[LOCAL]
