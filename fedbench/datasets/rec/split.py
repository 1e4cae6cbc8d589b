"""Train, validation and test pairs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fedbench.datasets.rec.order import numbered
from fedbench.datasets.rec.raw import TEST, TRAIN, VAL, Numbered, RawPairs
from fedbench.errors import DataError
from fedbench.seeds import generator
from fedbench.sources.rec_entry import Order
from fedbench.sources.rec_split import LpsfedSplit, OfficialSplit, Validation


def pool(raw: RawPairs, split: OfficialSplit | LpsfedSplit) -> RawPairs:
    """Return the pairs that a split divides: all, or for LPSFed's those of its pool, without cold users and items."""
    if isinstance(split, OfficialSplit):
        return raw
    part = raw.chosen(raw.given == TRAIN) if split.pool == "train_only" else raw
    return _core(part, split) if split.drop == "core" else _once(part, split)


def _once(part: RawPairs, split: LpsfedSplit) -> RawPairs:
    """Drop users of too few pairs, then items, each once, as in LPSFed's released ``remove_cold_items``."""
    part = part.chosen(_count(part.users) >= split.user_least)
    return part.chosen(_count(part.items) >= split.item_least)


def _core(part: RawPairs, split: LpsfedSplit) -> RawPairs:
    """Drop users and items of too few pairs until there are none, as in LCFN's released ``dataset_filtering``."""
    while not (warm := (_count(part.users) >= split.user_least) & (_count(part.items) >= split.item_least)).all():
        part = part.chosen(warm)
    return part


def without_held_back(pairs: Numbered, split: OfficialSplit | LpsfedSplit, order: Order) -> Numbered:
    """Return the pairs without those of LPSFed's split that are in no part, numbered anew.

    They are drawn by number, so that every source gives the same.
    """
    if isinstance(split, OfficialSplit) or not split.held_back:
        return pairs
    wanted = np.rint(split.held_back * np.bincount(pairs.users)).astype(np.int64)
    kept = ~_drawn(pairs.users, wanted, generator("rec held back", split.seed))
    left = numbered(RawPairs(pairs.users, pairs.items, pairs.given, has_test=False).chosen(kept), order)
    return replace(left, user_id=pairs.user_id[left.user_id], item_id=pairs.item_id[left.item_id])


def _count(values: np.ndarray) -> np.ndarray:
    """Return int64[m], how often each entry's value occurs."""
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(count[code])


def split_of(pairs: Numbered, split: OfficialSplit | LpsfedSplit, has_test: bool) -> np.ndarray:
    """Return int8[m], the split of each pair.

    Raises:
        DataError: the given test pairs are asked for and there are none.
    """
    sizes = np.bincount(pairs.users, minlength=pairs.user_id.size)
    held = np.full(pairs.users.size, TRAIN, dtype=np.int8)
    held[_is_test(pairs, split, sizes, has_test)] = TEST
    train = np.flatnonzero(held == TRAIN)
    draw = generator("rec validation", split.validation.seed)
    held[train[validation(pairs.users[train], split.validation, draw)]] = VAL
    return held


def _is_test(pairs: Numbered, split: OfficialSplit | LpsfedSplit, sizes: np.ndarray, has_test: bool) -> np.ndarray:
    if isinstance(split, LpsfedSplit):
        return lpsfed_test(sizes, split.test_ratio, split.seed)
    if not has_test:
        raise DataError(
            "the split lightgcn_official",
            found="raw files that give no test pairs",
            allowed="raw files with a train and a test part, or the split lpsfed_9_1",
            remedy="name another split in the catalogue",
        )
    return np.asarray(pairs.given == TEST)


def lpsfed_test(sizes: np.ndarray, ratio: float, seed: int) -> np.ndarray:
    """Return bool[m], which of the users' pairs test; users of ``sizes`` int64[U] pairs, one user after another.

    LPSFed's ``split_data_by_user``: for each user of two pairs or more the places are shuffled, and the first
    max(1, int(n * ratio)) test. The generator is Python's, seeded once, so that the authors' files come out.
    """
    shuffle = random.Random(seed).shuffle
    return np.concatenate([np.zeros(0, dtype=bool), *(_one_user(int(size), ratio, shuffle) for size in sizes)])


def _one_user(size: int, ratio: float, shuffle: Callable[[list[int]], None]) -> np.ndarray:
    chosen = np.zeros(size, dtype=bool)
    if size >= 2:
        places = list(range(size))
        shuffle(places)
        chosen[places[: max(1, int(size * ratio))]] = True
    return chosen


def validation(users: np.ndarray, settings: Validation, draw: np.random.Generator) -> np.ndarray:
    """Return bool[m], which training pairs validate: `Validation`'s count of each user's, drawn evenly.

    Args:
        users: int64[m], ascending: the user of each training pair.
        settings: the share.
        draw: a generator.
    """
    if not settings.ratio or not users.size:
        return np.zeros(users.size, dtype=bool)
    size = np.bincount(users)
    wanted = np.where(size >= 2, np.maximum(1, (size * settings.ratio).astype(np.int64)), 0)
    return _drawn(users, wanted, draw)


def _drawn(users: np.ndarray, wanted: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Return bool[m]: ``wanted[u]`` of each user's pairs, drawn evenly; ``users`` ascend."""
    size = np.bincount(users)
    order = np.lexsort((draw.random(users.size), users))
    rank = np.arange(users.size) - (np.cumsum(size) - size)[users]
    chosen = np.zeros(users.size, dtype=bool)
    chosen[order] = rank < wanted[users]
    return chosen
