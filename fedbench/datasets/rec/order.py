"""Numbers for users and items: the official ids' order, or an order that depends on the content alone."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fedbench.datasets.canonical import content_order
from fedbench.datasets.raw import raw_nodes
from fedbench.datasets.rec.raw import Numbered, RawPairs
from fedbench.sources.rec_entry import Order


def numbered(raw: RawPairs, order: Order) -> Numbered:
    """Return the pairs with users and items numbered without gaps.

    Args:
        raw: pairs by id.
        order: ``official``: by ascending id, and a user's pairs stay in the order of the files, as published splits
            need it; for sets that every source numbers alike. ``content``: by the bipartite graph alone, so that
            sources with other ids give the same data set; a user's pairs by item.
    """
    user_id, users = np.unique(raw.users, return_inverse=True)
    item_id, items = np.unique(raw.items, return_inverse=True)
    if order == "official":
        place = np.argsort(users, kind="stable")
        return Numbered(users[place], items[place], raw.given[place], user_id, item_id)
    user_order, item_order = _by_content(users, items, user_id.size, item_id.size)
    users, items = np.argsort(user_order)[users], np.argsort(item_order)[items]
    place = np.lexsort((items, users))
    return Numbered(users[place], items[place], raw.given[place], user_id[user_order], item_id[item_order])


def _by_content(users: np.ndarray, items: np.ndarray, n_users: int, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the canonical order of users and of items: `content_order` of the graph with two classes of nodes."""
    nodes = n_users + n_items
    side = np.arange(nodes) >= n_users
    graph = raw_nodes(sparse.csr_matrix((nodes, 1)), side, np.stack([users, items + n_users]))
    order = content_order(graph)
    return order[order < n_users], order[order >= n_users] - n_users
