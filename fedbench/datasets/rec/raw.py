"""User-item pairs as the raw files give them, and as numbers without gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench.errors import DataError

TRAIN, VAL, TEST = range(3)
SPLIT_NAMES = ("train", "val", "test")


@dataclass(frozen=True)
class RawPairs:
    """m different pairs, in the order of the files.

    Attributes:
        users: int64[m], ids of the raw files.
        items: int64[m].
        given: int8[m], TEST for the pairs of given test files, otherwise TRAIN.
        has_test: whether the raw files give test pairs at all.
    """

    users: np.ndarray
    items: np.ndarray
    given: np.ndarray
    has_test: bool

    def chosen(self, which: np.ndarray) -> RawPairs:
        """Return the pairs that ``which`` (bool[m], or places) names."""
        return RawPairs(self.users[which], self.items[which], self.given[which], self.has_test)


def raw_pairs(train: np.ndarray, test: np.ndarray, has_test: bool) -> RawPairs:
    """Return pairs int64[a, 2] and int64[b, 2] as one set; of a pair given twice the first stays.

    Raises:
        DataError: a pair is both a train and a test pair, or an id is negative.
    """
    both = np.concatenate([train, test])
    given = np.repeat(np.array([TRAIN, TEST], dtype=np.int8), [len(train), len(test)])
    _refuse_negative(both)
    _, first, code = np.unique(_code(both), return_index=True, return_inverse=True)
    torn = np.bincount(code[: len(train)], minlength=first.size).astype(bool)[code[len(train) :]].sum()
    if torn:
        raise DataError(
            "the given train and test pairs",
            found=f"{torn:,} pairs in both",
            allowed="no pair in both",
            remedy="the raw files are not the published ones; fetch them again",
        )
    first = np.sort(first)
    return RawPairs(both[first, 0], both[first, 1], given[first], has_test)


def _code(pairs: np.ndarray) -> np.ndarray:
    """Return int64[m], equal for equal pairs."""
    _, user = np.unique(pairs[:, 0], return_inverse=True)
    ids, item = np.unique(pairs[:, 1], return_inverse=True)
    return np.asarray(user * max(ids.size, 1) + item)


def _refuse_negative(pairs: np.ndarray) -> None:
    if (pairs < 0).any():
        raise DataError("ids of users and items", found=f"{pairs.min()}", allowed="0 or more", remedy="fetch again")


@dataclass(frozen=True)
class Numbered:
    """Pairs of U users and I items by numbers without gaps, sorted by user; a user's pairs in list order.

    Attributes:
        users: int64[m], 0 .. U - 1.
        items: int64[m], 0 .. I - 1.
        given: int8[m], as in `RawPairs`.
        user_id: int64[U], each user's id in the raw files.
        item_id: int64[I].
    """

    users: np.ndarray
    items: np.ndarray
    given: np.ndarray
    user_id: np.ndarray
    item_id: np.ndarray
