"""What methods for recommendation have in common that score items for users and share item vectors row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import Field

from fedbench.configuration.protocol import TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.methods._pair_losses import MeanOver
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Preparation
from fedbench.settings import Settings
from fedbench.tasks.rec.arrays import ClientPairs, RecProblem

S = TypeVar("S", bound=Settings)
NOTHING = "no two clients have an item in common: clients learn nothing of each other's items"


def shared_items(clients: Sequence[ClientPairs], instead: str) -> dict[str, Any]:
    """Return what the record of a method that shares item vectors says about the clients' items.

    Args:
        clients: their data.
        instead: what is exchanged where no item is in two clients, as tables print it; empty: nothing to say, since
            item vectors stay anyway.
    """
    shared = int((holders(clients) > 1).sum())
    return {"items_in_several_clients": shared} | ({} if shared else {"remark": NOTHING, "exchanged": instead})


class OwnRatesSettings(Settings):
    """What methods have in common whose step sizes were made for one user a client."""

    mean_over: MeanOver = Field(
        "users",
        description="users: every user's loss is the mean over its own pairs in the batch, as on a device of its own, "
        "and items see the mean over users (inferred); pairs: the common frame's mean over the batch",
    )


class ItemTables(Method[S]):
    """A method whose users stay and whose items' vectors are averaged, each over the clients that have the item.

    The record says how many items are in several clients; where none is, what is exchanged ``instead``.
    """

    instead: ClassVar[str] = "nothing"

    def __init__(self, settings: S, training: TrainingSettings) -> None:
        super().__init__(settings, training)
        self._require("backbone", training.model.backbone, "mf", "the method scores pairs itself")

    def _require(self, what: str, found: str | float, allowed: str | float, why: str) -> None:
        """Check one of the protocol's choices.

        Raises:
            ConfigurationError: it is another.
        """
        if found != allowed:
            raise ConfigurationError(
                f"run {type(self).__name__}",
                found=f"{what} '{found}'",
                allowed=f"'{allowed}': {why}",
                remedy="take one of the method's variants, which say so, or set it under the variant's `training`",
            )

    def _require_plain_descent(self) -> None:
        """Check that a longer gradient is a longer step."""
        why = "items and users have step sizes of their own"
        self._require("optimiser", self.training.optimiser, "sgd", why)
        self._require("weight_decay", self.training.weight_decay, 0.0, why)

    def prepare(self, problem: RecProblem, cell: Cell) -> Preparation:
        """Return the clients' data as they are, and what the record says about them."""
        known = self.about(problem, cell)
        return Preparation([self.original_data(problem)] * len(cell.seeds), diagnostics=[known] * len(cell.seeds))

    def about(self, problem: RecProblem, cell: Cell) -> dict[str, Any]:
        """Return what the record says about the clients' items."""
        return shared_items(problem.client_data, self.instead)


def holders(clients: Sequence[ClientPairs]) -> np.ndarray:
    """Return how many clients have each item of the data set, int64[items]."""
    return np.bincount(np.concatenate([client.item_ids for client in clients]))
