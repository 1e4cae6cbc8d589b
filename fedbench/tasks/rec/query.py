"""Who is ranked what: a group's users with held-out pairs, its candidates, what is hidden and what is looked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

HELD_OUT = ("val", "test")


@dataclass(frozen=True)
class Lists:
    """A list of candidates for each query user, ascending; int64 ``start`` [q + 1] and ``items`` [m]."""

    start: np.ndarray
    items: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Entries of each list, int64[q]."""
        return np.diff(self.start)


@dataclass(frozen=True)
class Query:
    """A ranking to be made.

    Attributes:
        users: int64[q], those with a held-out pair, in the model's numbers.
        items: int64[i], the candidates in the model's numbers; None for all items.
        candidates: i.
        train, val, test: each user's items among the candidates, by place.
    """

    users: np.ndarray
    items: np.ndarray | None
    candidates: int
    train: Lists
    val: Lists
    test: Lists

    def counts(self, split: str) -> np.ndarray:
        """Return the items looked for in a split, of each user."""
        lists: Lists = getattr(self, split)
        return lists.lengths


def query_of(pairs: Mapping[str, np.ndarray], users: np.ndarray, items: np.ndarray, known: int) -> Query:
    """Return the query of some users among some items; pairs with others are left out.

    Args:
        pairs: of train, val and test, int64[2, m], sorted by (user, item).
        users: int64[u], ascending.
        items: int64[i], ascending: the candidates.
        known: items of the model.
    """
    inside = {split: _placed(pairs[split], users, items) for split in ("train", *HELD_OUT)}
    asked = np.unique(np.concatenate([inside[split][0] for split in HELD_OUT]))
    lists = {split: _lists(placed, asked) for split, placed in inside.items()}
    return Query(users[asked], None if len(items) == known else items, len(items), **lists)


def _placed(pairs: np.ndarray, users: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Return the pairs of given users and items, by places among them, int64[2, m]; order is kept."""
    place = np.stack([_places(pairs[0], users), _places(pairs[1], items)])
    return place[:, (place >= 0).all(0)]


def _places(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    if not known.size:
        return np.full(values.shape, -1)
    place = np.minimum(np.searchsorted(known, values), known.size - 1)
    return np.where(known[place] == values, place, -1)


def _lists(pairs: np.ndarray, asked: np.ndarray) -> Lists:
    place = _places(pairs[0], asked)
    kept = place >= 0
    return Lists(np.searchsorted(place[kept], np.arange(asked.size + 1)), pairs[1][kept])
