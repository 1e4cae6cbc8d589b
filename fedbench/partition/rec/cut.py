"""From a cluster for each user and item to who has what; only training pairs are looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fedbench.partition.rec.kinds import RecScheme


@dataclass(frozen=True)
class Cut:
    """Who has what, for U users.

    Attributes:
        user_client: int64[U], the client of each user.
        item_client: int64[k], with ``item`` the items of each client, sorted by (client, item).
        item: int64[k].
    """

    user_client: np.ndarray
    item_client: np.ndarray
    item: np.ndarray

    def holds(self, client: np.ndarray, item: np.ndarray) -> np.ndarray:
        """Return bool[m], whether each client has each item."""
        width = int(max(item.max(initial=0), self.item.max(initial=0))) + 1
        known, asked = self.item_client * width + self.item, client * width + item
        place = np.minimum(np.searchsorted(known, asked), max(known.size - 1, 0))
        return known[place] == asked if known.size else np.zeros(asked.size, dtype=bool)

    def keeps(self, users: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Return bool[m], which pairs lie inside their user's client."""
        return self.holds(self.user_client[users], items)


def cut_of(
    user_label: np.ndarray, item_label: np.ndarray, users: np.ndarray, items: np.ndarray, scheme: RecScheme
) -> Cut:
    """Return the clients made of clusters.

    Items without a training pair belong to no client: nothing of them can be learnt. Users without one join the client
    of most training pairs. Clients are numbered by descending training pairs inside, then users.

    Args:
        user_label: int64[U], cluster of each user; -1 for a user without training pairs.
        item_label: int64[I], cluster of each item; -1 likewise. Without effect where the scheme says ``by_user``.
        users: int64[m], with ``items`` the training pairs.
        items: int64[m].
        scheme: whether items are cut or follow the users, and whether those left alone are dropped.
    """
    clusters = int(max(user_label.max(initial=0), item_label.max(initial=0))) + 1
    memberships = _BY_ITEMS[scheme.items](user_label, item_label, users, items)
    cut = Cut(user_label, *_sorted(*memberships))
    kept = cut.keeps(users, items)
    inside = np.bincount(user_label[users[kept]], minlength=clusters)
    size = np.bincount(user_label[user_label >= 0], minlength=clusters)
    rank = np.argsort(np.lexsort((np.arange(clusters), -size, -inside)))
    user_client = np.where(user_label >= 0, rank[user_label], 0)
    cut = Cut(user_client, *_sorted(rank[cut.item_client], cut.item))
    return _without_isolated(cut, users[kept], items[kept]) if scheme.drop_isolated else cut


def _disjoint(
    user_label: np.ndarray, item_label: np.ndarray, users: np.ndarray, items: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    item = np.unique(items)
    return item_label[item], item


def _by_user(
    user_label: np.ndarray, item_label: np.ndarray, users: np.ndarray, items: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    width = item_label.size
    code = np.unique(user_label[users] * width + items)
    return code // width, code % width


_BY_ITEMS = {"disjoint": _disjoint, "by_user": _by_user}


def _sorted(client: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((item, client))
    return client[order], item[order]


def _without_isolated(cut: Cut, users: np.ndarray, items: np.ndarray) -> Cut:
    """Return the cut without items that none of the kept training pairs touches."""
    touched = Cut(cut.user_client, *_by_user(cut.user_client, np.zeros(int(cut.item.max()) + 1), users, items))
    stays = touched.holds(cut.item_client, cut.item)
    return replace(cut, item_client=cut.item_client[stays], item=cut.item[stays])
