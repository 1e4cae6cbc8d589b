"""Matrix factorisation: scores are inner products of trained vectors (Rendle et al., UAI 2009, section 4.3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from fedbench.kernels.bipartite import Rows, rows_of_mean
from fedbench.models.parameters import Parameters
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork, flat


@dataclass(frozen=True)
class MF(VectorNetwork):
    """y_ui = u . v; ``layers`` has no meaning here."""

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the vectors of the rows that a batch touches."""
        tables = flat(parameters[USERS]), flat(parameters[ITEMS])
        return rows_of_mean(None, 0, (batch.user_rows, batch.item_rows), *tables)

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the tables."""
        return parameters[USERS], parameters[ITEMS]
