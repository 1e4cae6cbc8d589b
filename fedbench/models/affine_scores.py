"""One affine score function of an item's vector for every user (PFedRec, IJCAI 2023, section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.kernels.bipartite import Rows, rows_of_mean
from fedbench.models.parameters import Parameter, Parameters, fan_in_uniform
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork, flat

BIAS = "user.bias"


@dataclass(frozen=True)
class AffineScores(VectorNetwork):
    """s_u(e_i) = w_u . e_i + b_u: ``user.weight`` holds w_u, ``user.bias`` [users, 1] b_u; both start as in torch.

    To all code that scores by inner products, a user is (w_u, b_u) and an item (e_i, 1).
    """

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the score functions and the items' vectors, all private; item rows may leave one by one."""
        declared, width = super().parameters(), self.model.hidden_widths[0]
        start = fan_in_uniform(width)
        return {
            USERS: Parameter((self.users, width), start, private=True),
            BIAS: Parameter((self.users, 1), start, private=True),
            ITEMS: declared[ITEMS],
        }

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return (w_u, b_u) and (e_i, 1) of the rows that a batch touches; layer 0 is w_u and e_i."""
        chosen = batch.user_rows, batch.item_rows
        own = rows_of_mean(None, 0, chosen, flat(parameters[USERS]), flat(parameters[ITEMS]))
        bias = flat(parameters[BIAS]).index_select(0, batch.user_rows)
        return Rows(torch.cat([own.users, bias], dim=1), _with_one(own.items), own.base_users, own.base_items)

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return (w_u, b_u) [clients, users, d + 1] and (e_i, 1) [clients, items, d + 1]."""
        return torch.cat([parameters[USERS], parameters[BIAS]], dim=2), _with_one(parameters[ITEMS])


def _with_one(vectors: Tensor) -> Tensor:
    return torch.cat([vectors, vectors.new_ones(*vectors.shape[:-1], 1)], dim=-1)
