"""Networks that train a vector for every user and every item of a client, and score by inner products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from fedbench.configuration.protocol import ModelSettings
from fedbench.kernels.bipartite import Rows
from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.pairs import pair_products
from fedbench.models.parameters import Initial, Parameter, Parameters
from fedbench.models.ranking import InnerProduct, PairBatch, PairScores, RecBlock, Scorer

USERS, ITEMS = "user.weight", "item.weight"


@dataclass(frozen=True)
class VectorNetwork(ABC):
    """Tables ``user.weight`` [users, d] and ``item.weight`` [items, d].

    A user belongs to one client, and its vector stays there. An item may be in several, at other rows of their tables:
    these rows leave one by one (`Parameter.by_row`).

    Args:
        users: of the client.
        items: of the client.
        model: width d, layers, how the tables start.
    """

    users: int
    items: int
    model: ModelSettings

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare both tables, from N(0, deviation^2)."""
        width, start = self.model.hidden_widths[0], normal_of(self.model.embedding.deviation)
        return {
            USERS: Parameter((self.users, width), start, private=True),
            ITEMS: Parameter((self.items, width), start, private=True, by_row=True),
        }

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters unchanged."""
        return parameters

    @abstractmethod
    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the final vectors of the rows that a batch touches, and those of layer 0."""

    @abstractmethod
    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, [clients, users, d] and [clients, items, d]."""

    def forward(self, parameters: Parameters, batch: PairBatch, dropout: DropoutStream | None) -> PairScores:
        """Return the scores of a batch's pairs."""
        return pair_scores(self.rows(parameters, batch), batch)

    def scorers(self, parameters: Parameters, block: RecBlock) -> list[Scorer]:
        """Return each packed client's scores."""
        return [InnerProduct(*own) for own in zip(*self.tables(parameters, block), strict=True)]


def pair_scores(rows: Rows, batch: PairBatch) -> PairScores:
    """Return u . v of every pair, and the squared lengths of the vectors of layer 0 behind it."""
    return PairScores(pair_products(rows.users, rows.items, batch.user, batch.item), pair_squares(rows, batch))


def pair_squares(rows: Rows, batch: PairBatch) -> Tensor | None:
    """Return the squared length of all vectors of layer 0 behind each pair, [m]; None if the loss reads none."""
    if not batch.penalised:
        return None
    of_user, of_item = rows.base_users.square().sum(1), rows.base_items.square().sum(1)
    squares = of_item.index_select(0, batch.item.flatten()).view(batch.item.shape).sum(1)
    return squares + of_user.index_select(0, batch.user)


def flat(table: Tensor) -> Tensor:
    """Return a table [clients, rows, d] as [clients * rows, d]."""
    return table.reshape(-1, table.shape[2])


def normal_of(deviation: float, mean: float = 0.0) -> Initial:
    """Normal with the given mean and standard deviation."""

    def drawn(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return mean + deviation * random.standard_normal(shape)

    return drawn
