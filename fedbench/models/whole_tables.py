"""Rows of a batch, for networks that compute everyone's final vectors in every step."""

from __future__ import annotations

from torch import Tensor

from fedbench.kernels.bipartite import Rows
from fedbench.models.parameters import Parameters
from fedbench.models.ranking import PairBatch
from fedbench.models.vectors import ITEMS, USERS, flat


def rows_of_tables(final: tuple[Tensor, Tensor], parameters: Parameters, batch: PairBatch) -> Rows:
    """Return a batch's rows of final vectors ([clients, users, f] and [clients, items, f]), and those of layer 0."""
    chosen = (batch.user_rows, batch.item_rows) * 2
    tables = (*final, parameters[USERS], parameters[ITEMS])
    return Rows(*(flat(table).index_select(0, rows) for table, rows in zip(tables, chosen, strict=True)))
