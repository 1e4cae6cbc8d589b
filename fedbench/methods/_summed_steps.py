"""Federated matrix factorisation: the server adds what every client's users change of an item's vector.

FedMF's server subtracts each user's gradient from its table, V <- V - sum_u G_u. A client sends the sum of its users'
gradients, which is what its own copy of the table has changed by: V <- V + sum_c (V_c - V). The engine averages a row
over the h clients that have its item, and mean_c (v + h (v_c - v)) = v + sum_c (v_c - v). So a row's change is made h
times as long before its client sends it; nobody has to know h for it, it is how the sum is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import torch
from pydantic import Field
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.methods._item_tables import ItemTables, holders
from fedbench.methods.exchange import Cell, Trained
from fedbench.models.parameters import Parameters
from fedbench.models.vectors import ITEMS
from fedbench.settings import Settings
from fedbench.tasks.rec.arrays import ClientPairs


class SummedStepsSettings(Settings):
    """What federated matrix factorisations have in common."""

    combined: Literal["sum", "mean"] = Field(
        "sum",
        description="what the server adds to an item's vector: the sum of the changes of the clients that have it "
        "(FedMF: every gradient is subtracted), or their mean, as row averages have it",
    )


@dataclass
class Tables:
    """The item tables as clients received them.

    Attributes:
        holders: of every client, how many clients have each of its items, [n_k, 1].
        unsent: rows that no row average needs, of all clients: their own items alone, and items they don't have.
        received: tables [S, k, n, d] of packed clients, by the first of them; empty between rounds.
    """

    holders: list[Tensor]
    unsent: int
    received: dict[str, Tensor] = field(default_factory=dict)

    def stretch(self, table: Tensor, clients: range) -> None:
        """Make the change of each row of a table [S, k, n, d] as many times as long as the item has holders."""
        before = self.received.pop(str(clients.start))
        times = torch.stack([self.holders[client] for client in clients]).to(table.device)
        table.copy_(before + times * (table - before))


def tables_of(clients: Sequence[ClientPairs], cell: Cell) -> Tables:
    """Return the memory before round 1."""
    counts = holders(clients)
    own = [counts[client.item_ids] for client in clients]
    unsent = len(clients) * int((counts > 0).sum()) - sum(int((each > 1).sum()) for each in own)
    times = [torch.from_numpy(each)[:, None].to(dtype=cell.dtype, device=cell.device) for each in own]
    return Tables(times, unsent)


M = TypeVar("M", bound=SummedStepsSettings)


class SummedSteps(ItemTables[M]):
    """Matrix factorisation with local users, and items that the server steps along the sum of all changes.

    Clients hold no item vectors of their own between rounds, so only what the server sends back is a model.
    """

    begins_round = True

    def __init__(self, settings: M, training: TrainingSettings) -> None:
        super().__init__(settings, training)
        if settings.combined == "sum":
            self._require("evaluated_after", training.evaluated_after, "download", "clients keep no items of their own")

    def memory(self, cell: Cell, data: Sequence[Sequence[ClientPairs]], shared: Parameters) -> Any:
        """Count who has which item."""
        return tables_of(data[0], cell)

    def tables(self, memory: Any) -> Tables:
        """Return the part of the memory that is about item tables."""
        tables: Tables = memory
        return tables

    def begin_round(self, trained: Trained) -> dict[str, Tensor]:
        """Keep the table that clients received; nothing is sent."""
        if self.settings.combined == "sum":
            self.tables(trained.memory).received[str(trained.clients.start)] = trained.local[ITEMS].clone()
        return {}

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Prepare the tables for their row averages; nothing else is sent."""
        if self.settings.combined == "sum":
            self.tables(trained.memory).stretch(trained.local[ITEMS], trained.clients)
        return {}
