"""LPSFed's codes of popularity: a vector for each training degree, the cosine of a user's and an item's.

Cosines depend on degrees alone, so all of them are one table (user degrees, item degrees).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from fedbench.models.lpsfed import ITEM_CODES, USER_CODES
from fedbench.models.parameters import Parameters
from fedbench.models.ranking import PairBatch

BUCKETS = np.array([10, 20, 30, 40, 50, 100, 200, 300, 400, 500])
"""Upper ends of the released code's ranges of degrees; the eleventh has none."""


def codes_of(taken: sparse.csr_matrix, kind: str) -> tuple[Tensor, Tensor]:
    """Return the code of each user int64[users] and of each item int64[items] of a client.

    Args:
        taken: its training pairs, 0-1 [users, items].
        kind: ``distinct_degree`` or ``buckets``.
    """
    number = {"distinct_degree": _distinct, "buckets": lambda degrees: np.searchsorted(BUCKETS, degrees)}[kind]
    degrees = np.diff(taken.indptr), np.bincount(taken.indices, minlength=taken.shape[1])
    users, items = (torch.from_numpy(np.asarray(number(each), dtype=np.int64)) for each in degrees)
    return users, items


def _distinct(degrees: np.ndarray) -> np.ndarray:
    return np.unique(degrees, return_inverse=True)[1]


def most_codes(kind: str, users: int, items: int, pairs: int) -> tuple[int, int]:
    """Return how many codes a client of that size can have at most, of users and of items.

    k distinct degrees above 0 need 1 + ... + k pairs, k users, and k items.
    """
    if kind == "buckets":
        return len(BUCKETS) + 1, len(BUCKETS) + 1
    most = 1 + min(users, items, int((np.sqrt(8 * pairs + 1) - 1) / 2))
    return min(most, users), min(most, items)


@dataclass(frozen=True)
class PackedCodes:
    """Codes of clients computed together: ``users`` int64[clients * users], ``items`` likewise.

    ``counts``: rows of the tables in use. Entry (c, p, q) of a table of cosines has the number (c P + p) Q + q.
    """

    users: Tensor
    items: Tensor
    counts: tuple[int, int]

    @staticmethod
    def of(users: Sequence[Tensor], items: Sequence[Tensor]) -> PackedCodes:
        """Put the codes of clients of one shape side by side."""
        counts = max(int(own.max()) + 1 for own in users), max(int(own.max()) + 1 for own in items)
        placed = [place * counts[0] + own for place, own in enumerate(users)]
        return PackedCodes(torch.cat(placed), torch.cat(list(items)), counts)

    def cosines(self, parameters: Parameters) -> Tensor:
        """Return cos xi of every pair of codes, [clients, user codes, item codes]."""
        users, items = parameters[USER_CODES][:, : self.counts[0]], parameters[ITEM_CODES][:, : self.counts[1]]
        return normalize(users, dim=2) @ normalize(items, dim=2).mT

    def entries(self, batch: PairBatch, item: Tensor) -> Tensor:
        """Return the place of pairs in a flattened table, int64[m, k].

        Args:
            batch: its users.
            item: int64[m, k], places among its items.
        """
        user = self.users.index_select(0, batch.user_rows).index_select(0, batch.user)
        return user.unsqueeze(1) * self.counts[1] + self.items.index_select(0, batch.item_rows)[item]


def bias_losses(cosines: Tensor, tau: float) -> Tensor:
    """Return L_bias of each pair [m], from cos xi of the pair taken and of those not taken [m, 1 + negatives].

    -log of the first's share of exp(cos xi / tau_2) (equation 7's loss).
    """
    return contrastive(cosines / tau)


def contrastive(logits: Tensor) -> Tensor:
    """Return -log softmax of the first column [m]."""
    first = torch.zeros(len(logits), dtype=torch.int64, device=logits.device)
    return cross_entropy(logits, first, reduction="none")
