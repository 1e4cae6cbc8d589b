"""Further figures of the test lists: by the items' popularity, on a balanced test, and among all items.

All are read off the lists that the ranking gives anyway, so they cost next to nothing; only a model that knows more
items than a client has is ranked once more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench import seeds as streams
from fedbench.tasks.rec.arrays import ClientPairs
from fedbench.tasks.rec.metrics import ndcg, places, recall
from fedbench.tasks.rec.query import Lists, Query

CUTOFF = 20
THIRDS = ("tail", "mid", "head")


def thirds(degree: np.ndarray) -> np.ndarray:
    """Return int8[I], each item's third by training pairs: 0 tail, 1 mid, 2 head; -1 for items without any.

    Thirds of the number of items, as in BC loss's code; which of equally popular items at an edge come first is decided
    by their numbers.
    """
    known = np.flatnonzero(degree > 0)
    order = known[np.argsort(degree[known], kind="stable")]
    third = np.full(degree.size, -1, dtype=np.int8)
    third[order] = np.arange(order.size) * len(THIRDS) // max(order.size, 1)
    return third


def one_of_each_item(wanted: Lists, random: np.random.Generator) -> np.ndarray:
    """Return bool[m]: for each item looked for one of its pairs, drawn evenly, so that all items count alike."""
    order = random.permutation(wanted.items.size)
    _, first = np.unique(wanted.items[order], return_index=True)
    chosen = np.zeros(wanted.items.size, dtype=bool)
    chosen[order[first]] = True
    return chosen


@dataclass(frozen=True)
class Breakdown:
    """Further figures of a client's (or group's) test lists. ``third`` int8[I]: see `thirds`."""

    third: np.ndarray

    def figures(self, client: ClientPairs, number: int, ranked: np.ndarray, whole: np.ndarray) -> dict[str, float]:
        """Return Recall@20 and NDCG@20 by name: ``_tail``, ``_mid``, ``_head``, ``_balanced``, ``_global``.

        Args:
            client: whose.
            number: which of its groups.
            ranked: its lists among its candidates, int64[q, 20].
            whole: its lists among all items that the model knows.
        """
        query = client.queries[number]
        found = places(ranked, query.test)
        parts = {name: _means(found, query.test, which) for name, which in self._parts(client, query).items()}
        parts["global"] = _among_all(client, number, whole)
        return {f"{metric}_{name}": value for name, part in parts.items() for metric, value in part.items()}

    def _parts(self, client: ClientPairs, query: Query) -> dict[str, np.ndarray]:
        """Return which test pairs count, bool[m], by name."""
        ids = client.item_ids if query.items is None else client.item_ids[query.items]
        third = self.third[ids[query.test.items]]
        # The same draw in every run and for every method: it depends on the client's test alone.
        random = streams.generator("balanced test", len(query.users), query.candidates, query.test.items.size)
        parts = {name: third == place for place, name in enumerate(THIRDS)}
        return {**parts, "balanced": one_of_each_item(query.test, random)}


def sizes(client: ClientPairs, number: int) -> dict[str, float]:
    """Return how many candidates a ranking has, and how many test pairs are inside the client and outside."""
    query, (users, _) = client.queries[number], client.groups[number]
    inside = query.test.items.size
    outside = int(client.test_pairs[users].sum()) - inside
    return {"candidates": query.candidates, "pairs": inside, "pairs_outside": outside}


def _means(found: np.ndarray, wanted: Lists, which: np.ndarray) -> dict[str, float]:
    """Return the mean figures over users of whose pairs some count; NaN without any."""
    user = np.repeat(np.arange(len(found)), wanted.lengths)
    counts = np.bincount(user[which], minlength=len(found))
    hit = (found >= 0) & np.append(which, False)[found]
    asked = counts > 0
    users = int(asked.sum())
    return _named(hit[asked], counts[asked], users)


def _among_all(client: ClientPairs, number: int, whole: np.ndarray) -> dict[str, float]:
    """Return the mean figures over all users with a test pair; items that the model doesn't know are missed.

    So they compare between partitions, and with a model of all items.
    """
    query, (users, _) = client.whole_queries[number], client.groups[number]
    counts = client.test_pairs[query.users]
    hit = (places(whole, query.test) >= 0)[counts > 0]
    return _named(hit, counts[counts > 0], int((client.test_pairs[users] > 0).sum()))


def _named(hit: np.ndarray, counts: np.ndarray, users: int) -> dict[str, float]:
    """Return sums over the lists' users divided by ``users``, by metric."""
    each = {"recall": recall(hit, counts), "ndcg": ndcg(hit, counts, CUTOFF)}
    return {f"{name}@{CUTOFF}": float(values.sum() / users) if users else float("nan") for name, values in each.items()}
