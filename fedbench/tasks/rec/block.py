"""Clients computed together, and batches of their pairs. They have as many users and items: `Shape` says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import logsigmoid

from fedbench.configuration.protocol import RankingSettings
from fedbench.kernels.bipartite import bipartite
from fedbench.kernels.low_pass import LowPass, low_pass
from fedbench.kernels.sparse import SparseMatrix
from fedbench.models.ranking import PairScores
from fedbench.models.vectors import ITEMS
from fedbench.tasks.rec.arrays import ClientPairs
from fedbench.tasks.task import Place

T = TypeVar("T")


@dataclass(frozen=True)
class RecBlock:
    """The packed clients, seed-major. ``frequencies``: how many `low_pass` has; ``kept``: what `once` computed."""

    clients: Sequence[ClientPairs]
    place: Place
    frequencies: int = 128
    kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def taken(self) -> list[sparse.csr_matrix]:
        """Training pairs of each client, 0-1 [users, items]."""
        return [client.taken for client in self.clients]

    @property
    def rows(self) -> dict[str, list[np.ndarray]]:
        """Numbers in the data set file of every client's items, which name the rows of its table."""
        return {ITEMS: [client.item_ids for client in self.clients]}

    @cached_property
    def graph(self) -> SparseMatrix:
        """R = D_u^(-1/2) A D_i^(-1/2) of all clients, block-diagonal."""
        return bipartite(self.taken, self.place.dtype, self.place.device)

    @cached_property
    def low_pass(self) -> LowPass:
        """The lowest frequencies of each client's graph."""
        return low_pass(self.taken, self.frequencies, self.place.dtype, self.place.device)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what ``make`` computes from the clients' data, computed once under a name."""
        if name not in self.kept:
            self.kept[name] = make()
        known: T = self.kept[name]
        return known

    def tensor(self, values: Any) -> Tensor:
        """Return an array in the run's precision, on its device."""
        return torch.as_tensor(values, dtype=self.place.dtype, device=self.place.device)

    def index(self, values: np.ndarray) -> Tensor:
        """Return whole numbers on the run's device."""
        return torch.from_numpy(values).to(self.place.device)

    def batch(self, pairs: Sequence[np.ndarray], negatives: Sequence[np.ndarray], ranking: RankingSettings) -> Batch:
        """Return some training pairs of each client, with items not taken.

        Args:
            pairs: int64[m], of each client.
            negatives: int64[m, negatives], of each client, its own items.
            ranking: what is minimised on them.
        """
        users, items = self.clients[0].users, self.clients[0].items
        user, item = [], []
        for place, (client, chosen, drawn) in enumerate(zip(self.clients, pairs, negatives, strict=True)):
            positive = client.train[1][chosen][:, None]
            user.append(client.train[0][chosen] + place * users)
            item.append(np.concatenate([positive, drawn], axis=1) + place * items)
        user_rows, of_user = _touched(np.concatenate(user), len(pairs) * users)
        item_rows, of_item = _touched(np.concatenate(item), len(pairs) * items)
        numbers = map(self.index, (user_rows, item_rows, of_user, of_item))
        return Batch(self, tuple(map(len, pairs)), ranking, *numbers)


def _touched(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the different rows of ``count``, ascending, and each entry's place among them; sorting takes longer."""
    present, place = np.zeros(count, dtype=bool), np.empty(count, dtype=np.int64)
    present[rows] = True
    different = np.flatnonzero(present)
    place[different] = np.arange(different.size)
    return different, place[rows]


@dataclass(frozen=True)
class Batch:
    """Pairs of every packed client, ``sizes`` of each; see `fedbench.models.ranking.PairBatch`."""

    block: RecBlock
    sizes: tuple[int, ...]
    ranking: RankingSettings
    user_rows: Tensor
    item_rows: Tensor
    user: Tensor
    item: Tensor

    @property
    def slots(self) -> int:
        """Pairs of a client after padding."""
        return max(self.sizes)

    @property
    def penalised(self) -> bool:
        """Whether the loss reads the squared lengths of the vectors of layer 0."""
        return self.ranking.l2 > 0

    def penalty(self, outputs: PairScores) -> Tensor | float:
        """Return l2 / 2 times the squared length of the vectors of layer 0 behind each pair, [m] (or 0)."""
        return 0.0 if outputs.squares is None else 0.5 * self.ranking.l2 * outputs.squares

    @property
    def device(self) -> torch.device:
        """Where the batch lives."""
        return self.user.device

    def loss(self, outputs: PairScores) -> Tensor:
        """Return the mean over each client's pairs of its BPR loss, [clients]; 0 where it has none.

        -ln sigmoid(y_ui - y_uj), averaged over the negatives j, plus l2 / 2 times the squared length of the vectors of
        layer 0 (LightGCN, equation 15).
        """
        margins = outputs.scores[:, :1] - outputs.scores[:, 1:]
        losses = self.penalty(outputs) - logsigmoid(margins).mean(1)
        return torch.stack([part.sum() / max(len(part), 1) for part in losses.split(self.sizes)])
