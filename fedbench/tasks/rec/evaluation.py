"""Full ranking: every user's own client's items, what it took hidden, without a users x items matrix.

Validation hides training items, test hides training and validation items. Users without an item to look for don't
count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.topk import largest
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.models.ranking import Scorer
from fedbench.tasks.rec.arrays import ClientPairs
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.rec.breakdown import CUTOFF, Breakdown, sizes
from fedbench.tasks.rec.metrics import hits, ndcg, recall
from fedbench.tasks.rec.query import HELD_OUT, Lists, Query
from fedbench.tasks.task import Figures

AT_ONCE = 128  # users; their scores of 40,000 items then stay in a processor's cache
_NOTHING = float("-inf")


@dataclass(frozen=True)
class OnItems:
    """Recall@20 and NDCG@20 of each client, and what makes averages over users of them.

    A figure's plain mean over clients is the unweighted one; the plain mean of its ``_by_user`` twin, K users_c / users
    times the client's figure, is the mean over all users. ``users`` is their number.

    Args:
        users: of each split, all clients' users with an item to look for.
        clients: K.
        breakdown: makes further figures of the test lists; None for none.
    """

    users: dict[str, int]
    clients: int
    breakdown: Breakdown | None = None

    def figures(self, network: Network, effective: Parameters, block: RecBlock, last: bool) -> Figures:
        """Return the figures of each packed client (of each of its groups); what doesn't change at the end alone."""
        scorers: list[Scorer] = network.scorers(effective, block)  # type: ignore[attr-defined]
        found = [
            self._of_group(scorer, client, number, block.place.device)
            | ({(name, "test"): value for name, value in sizes(client, number).items()} if last else {})
            for scorer, client in zip(scorers, block.clients, strict=True)
            for number in range(len(client.queries))
        ]
        return {key: torch.tensor([each[key] for each in found], dtype=torch.float64) for key in found[0]}

    def _of_group(
        self, scorer: Scorer, client: ClientPairs, number: int, device: torch.device
    ) -> dict[tuple[str, str], float]:
        query = client.queries[number]
        lists = rankings(scorer, query, device)
        found = {
            (metric, split): value
            for split in HELD_OUT
            for metric, value in self._of_split(split, lists[split], query).items()
        }
        if self.breakdown is None:
            return found
        whole = client.whole_queries[number]
        among_all = lists if whole is query else rankings(scorer, whole, device)
        more = self.breakdown.figures(client, number, lists["test"], among_all["test"])
        return found | {(metric, "test"): value for metric, value in more.items()}

    def _of_split(self, split: str, ranked: np.ndarray, query: Query) -> dict[str, float]:
        counts = query.counts(split)
        found, asked = hits(ranked, getattr(query, split)), counts > 0
        users = int(asked.sum())
        share = self.clients * users / max(self.users[split], 1)
        each = {"recall": recall(found, counts), "ndcg": ndcg(found, counts, CUTOFF)}
        means = {name: float(values[asked].mean()) if users else float("nan") for name, values in each.items()}
        plain = {f"{name}@{CUTOFF}": value for name, value in means.items()}
        return plain | {f"{n}_by_user": v * share if users else 0.0 for n, v in plain.items()} | {"users": float(users)}


def rankings(scorer: Scorer, query: Query, device: torch.device) -> dict[str, np.ndarray]:
    """Return for validation and test each query user's best 20 candidates, best first, int64[q, 20] (fewer of fewer).

    Lists of users who have nothing to look for are not filled in where none beside them has.
    """
    length = min(CUTOFF, query.candidates)
    ranked = {split: np.zeros((len(query.users), length), dtype=np.int64) for split in HELD_OUT}
    for first in range(0, len(query.users), AT_ONCE):
        scores = _scores(scorer, query, first, device)
        for split, hidden in (("val", query.train), ("test", query.val)):
            _hide(scores, first, hidden)
            if query.counts(split)[first : first + AT_ONCE].any():
                ranked[split][first : first + AT_ONCE] = largest(scores, length).cpu().numpy()
    return ranked


def _scores(scorer: Scorer, query: Query, first: int, device: torch.device) -> Tensor:
    """Return some users' scores of all candidates."""
    scores = scorer.scores(torch.from_numpy(query.users[first : first + AT_ONCE]).to(device))
    return scores if query.items is None else scores.index_select(1, torch.from_numpy(query.items).to(device))


def _hide(scores: Tensor, first: int, lists: Lists) -> None:
    """Put the lists' items of the users from ``first`` on behind all others, in place."""
    start = lists.start[first : first + len(scores) + 1]
    row = np.repeat(np.arange(len(scores)), np.diff(start)) * scores.shape[1]
    place = torch.from_numpy(row + lists.items[start[0] : start[-1]]).to(scores.device)
    scores.view(-1)[place] = _NOTHING
