"""What networks of recommendation have in common: they score every item for a user.

A client's network either trains vectors of its users and items, or reads scores off its training pairs. Parameters are
stacks [clients, *shape], as everywhere; clients that are computed together have as many users and items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from scipy import sparse
from torch import Tensor

from fedbench.kernels.low_pass import LowPass
from fedbench.kernels.products import inner_products
from fedbench.kernels.sparse import SparseMatrix

T = TypeVar("T")


class RecBlock(Protocol):
    """The clients computed in one step: users u of client c are row c * users + u, items likewise."""

    @property
    def clients(self) -> Sequence[Any]:
        """Each client's data, with what its method prepared."""

    @property
    def taken(self) -> Sequence[sparse.csr_matrix]:
        """Training pairs of each client, 0-1 [users, items]."""

    @property
    def graph(self) -> SparseMatrix:
        """R = D_u^(-1/2) A D_i^(-1/2) of all clients, block-diagonal."""

    @property
    def low_pass(self) -> LowPass:
        """The lowest frequencies of each client's graph, as many as the model asks for."""

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what ``make`` computes from the clients' data, computed once under a name."""

    def tensor(self, values: Any) -> Tensor:
        """Return an array in the run's precision, on its device."""


class PairBatch(Protocol):
    """Pairs of a local step, m in all."""

    @property
    def block(self) -> RecBlock:
        """Whose pairs."""

    @property
    def user_rows(self) -> Tensor:
        """Users touched, ascending, int64[a]."""

    @property
    def item_rows(self) -> Tensor:
        """Items touched, ascending, int64[b]."""

    @property
    def user(self) -> Tensor:
        """Each pair's place among ``user_rows``, int64[m]."""

    @property
    def item(self) -> Tensor:
        """Places of the item taken and of those not taken, int64[m, 1 + negatives]."""

    @property
    def penalised(self) -> bool:
        """Whether the loss reads the squared lengths of the vectors of layer 0."""


class PairScores(NamedTuple):
    """Scores [m, 1 + negatives], the pair taken first; ``squares`` [m]: squared length of all vectors of layer 0.

    No squares where the batch isn't ``penalised``.
    """

    scores: Tensor
    squares: Tensor | None


class Scorer(Protocol):
    """Scores of one client's model."""

    def scores(self, users: Tensor) -> Tensor:
        """Return the scores of all items, [len(users), items], as a new tensor."""


@dataclass(frozen=True)
class InnerProduct:
    """Scores u . v of ``users`` [users, d] and ``items`` [items, d]."""

    users: Tensor
    items: Tensor

    def scores(self, users: Tensor) -> Tensor:
        """Return the scores of all items, [len(users), items]."""
        return inner_products(self.users[users], self.items)
