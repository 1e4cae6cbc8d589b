"""Splits: the authors' files byte for byte, small ones by hand, and what holds for any."""

import hashlib
import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rec_support import NINE_TO_ONE, OFFICIAL, entry_of, pair_sets, raw, rng, split_of

from fedbench.datasets.rec.build import load_pairs, split_pairs
from fedbench.datasets.rec.order import numbered
from fedbench.datasets.rec.raw import TEST, TRAIN, VAL
from fedbench.datasets.rec.split import lpsfed_test, pool, validation
from fedbench.errors import DataError
from fedbench.sources.rec_split import LpsfedSplit, OfficialSplit, Validation

HELD_BACK = LpsfedSplit(name="lpsfed_9_1", held_back=0.1)
# git blob ids of data/Gowalla/train_data.json and test_data.json, github.com/dntjr41/LPSFed, commit 715b5f6
AUTHORS = {TRAIN: "91ca7d729b9ab6d80089a726a30a4d348d71f16b", TEST: "c3b8a53f1d5865e6ecdffd33ae3cd6a38b4040f7"}


def git_blob(text: str) -> str:
    content = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def test_gowalla_is_split_as_the_authors_files(raw_folder):
    entry = entry_of("gowalla-lpsfed")
    split, source = entry.resplit.split, entry.dataset.sources[0]
    pairs = numbered(pool(load_pairs(source, raw_folder("gowalla")), split), "official")
    sizes = np.bincount(pairs.users)
    test = lpsfed_test(sizes, split.test_ratio, split.seed)
    lists = [items.tolist() for items in np.split(pairs.items, np.cumsum(sizes)[:-1])]
    chosen = [mask.tolist() for mask in np.split(test, np.cumsum(sizes)[:-1])]
    for which, blob in AUTHORS.items():
        kept = [
            [item for item, tests in zip(*both, strict=True) if tests == (which == TEST)]
            for both in zip(lists, chosen, strict=True)
        ]
        assert git_blob(json.dumps(kept)) == blob


def test_nine_to_one_by_hand():
    """Five pairs, one pair, 21 pairs: 1, 0 and 2 test; the single one draws no random number."""
    found = np.split(lpsfed_test(np.array([5, 1, 21]), 0.1, 42), [5, 6])
    dice = random.Random(42)
    first, second = list(range(5)), list(range(21))
    dice.shuffle(first)
    dice.shuffle(second)
    assert np.flatnonzero(found[0]).tolist() == first[:1]
    assert not found[1].any()
    assert np.flatnonzero(found[2]).tolist() == sorted(second[:2])


@given(pairs=pair_sets(), order=st.sampled_from(["official", "content"]))
def test_counts_of_nine_to_one_and_of_validation(pairs, order):
    data = split_of(raw(pairs), NINE_TO_ONE, order)
    for user in range(data.n_users):
        test, val, train = (int((data.split[data.users == user] == split).sum()) for split in (TEST, VAL, TRAIN))
        size = test + val + train
        assert test == (max(1, size // 10) if size >= 2 else 0)
        assert val == (max(1, (size - test) // 10) if size - test >= 2 else 0)
        assert train >= 1


@given(pairs=pair_sets())
def test_every_pair_has_one_split_and_none_is_lost(pairs):
    data = split_of(raw(pairs), NINE_TO_ONE)
    assert sorted(zip(data.users.tolist(), data.items.tolist(), strict=True)) == sorted(pairs_by_number(pairs))
    code = data.users * data.n_items + data.items
    assert (np.diff(code) > 0).all()
    assert sum(data.meta["pairs"].values()) == len(pairs)


def pairs_by_number(pairs):
    items = {item: place for place, item in enumerate(sorted({item for _, item in pairs}))}
    return [(user, items[item]) for user, item in pairs]


def test_the_official_split_is_the_given_one():
    data = split_of(raw([(0, 5), (0, 7), (1, 5)], [(0, 6), (1, 7)]), OFFICIAL)
    rows = list(zip(data.users.tolist(), data.items.tolist(), data.split.tolist(), strict=True))
    assert rows == [(0, 0, TRAIN), (0, 1, TEST), (0, 2, TRAIN), (1, 0, TRAIN), (1, 2, TEST)]
    assert data.meta["pairs"] == {"train": 3, "val": 0, "test": 2}


def test_the_official_split_with_validation_leaves_the_test_pairs_alone():
    train, test = [(0, i) for i in range(25)] + [(1, 3)], [(0, 30), (1, 30)]
    data = split_of(raw(train, test), OfficialSplit(name="lightgcn_official", validation=Validation(ratio=0.1)))
    assert data.meta["pairs"] == {"train": 24, "val": 2, "test": 2}
    assert (data.items[data.split == TEST] == data.n_items - 1).all()


def test_there_is_no_official_split_without_test_files():
    with pytest.raises(DataError, match="give no test pairs"):
        split_of(raw([(0, 1)]), OFFICIAL)


def test_the_pool_and_cold_users_and_items_by_hand():
    """User 1 has one pair and goes first; item 8 then has one and goes; user 2 keeps one pair and stays."""
    given_pairs = raw([(0, 7), (0, 9), (1, 8), (2, 7), (2, 8)], [(0, 8), (0, 6)])
    split = LpsfedSplit(name="lpsfed_9_1", pool="train_only", user_least=2, item_least=2)
    left = pool(given_pairs, split)
    assert list(zip(left.users.tolist(), left.items.tolist(), strict=True)) == [(0, 7), (2, 7)]
    assert pool(given_pairs, NINE_TO_ONE).users.size == 7


def test_a_core_by_hand():
    """User 3 goes, so that item 9 has one pair and goes, so that user 2 has one and goes; each once leaves user 2."""
    given_pairs = raw([(0, 7), (0, 8), (1, 7), (1, 8), (2, 8), (2, 9), (3, 9)])
    least = {"name": "lpsfed_9_1", "user_least": 2, "item_least": 2}
    core, once = (pool(given_pairs, LpsfedSplit(**least, **drop)) for drop in ({"drop": "core"}, {}))
    assert list(zip(core.users.tolist(), core.items.tolist(), strict=True)) == [(0, 7), (0, 8), (1, 7), (1, 8)]
    assert list(zip(once.users.tolist(), once.items.tolist(), strict=True))[4:] == [(2, 8)]


def test_what_is_held_back_by_hand():
    """A tenth of 5, 15, 25 and 35 pairs, half to even: 0, 2, 2 and 4."""
    pairs = [(user, item) for user, size in enumerate((5, 15, 25, 35)) for item in range(size)]
    left = split_of(raw(pairs), HELD_BACK)
    assert np.bincount(left.users).tolist() == [5, 13, 23, 31]
    assert set(zip(left.users.tolist(), left.items.tolist(), strict=True)) < set(pairs)


def test_items_that_are_held_back_altogether_get_no_number():
    pairs = [(user, 10 * user + item) for user in range(3) for item in range(10)]
    data, numbers = split_pairs("toy", raw(pairs), "official", HELD_BACK)
    assert data.n_items == 27 and np.array_equal(np.unique(data.items), np.arange(27))
    assert {(int(u), int(numbers.item_id[i])) for u, i in zip(data.users, data.items, strict=True)} < set(pairs)


def test_what_is_held_back_depends_on_content_alone():
    pairs = np.argwhere(rng(3).random((12, 40)) < 0.4)
    users, items = rng(4).permutation(12) + 5, rng(5).permutation(40) + 9
    other = np.stack([users[pairs[:, 0]], items[pairs[:, 1]]], axis=1)[rng(6).permutation(len(pairs))]
    first, second = (split_of(raw(each.tolist()), HELD_BACK, "content") for each in (pairs, other))
    assert all(np.array_equal(getattr(first, part), getattr(second, part)) for part in ("users", "items", "split"))


def test_settings_at_their_defaults_are_not_written():
    """Data set files from before these settings keep their sums."""
    assert not {"drop", "held_back"} & split_of(raw([(0, 1)]), NINE_TO_ONE).meta["split"].keys()
    assert split_of(raw([(0, 1)]), HELD_BACK).meta["split"]["held_back"] == 0.1


@given(sizes=st.lists(st.integers(0, 40), min_size=1, max_size=20), seed=st.integers(0, 99))
def test_validation_takes_its_share_of_each_user(sizes, seed):
    users = np.repeat(np.arange(len(sizes)), sizes)
    chosen = validation(users, Validation(ratio=0.1), rng(seed))
    taken = np.bincount(users[chosen], minlength=len(sizes))
    assert taken.tolist() == [0 if size < 2 else max(1, size // 10) for size in sizes]


def test_validation_is_an_even_draw():
    """Of five pairs each validates in a fifth of the draws: 400 expected of 2,000, four standard deviations are 72."""
    users = np.repeat(np.arange(2000), 5)
    chosen = validation(users, Validation(ratio=0.1), rng(1)).reshape(2000, 5)
    assert (np.abs(chosen.sum(axis=0) - 400) < 72).all()


def test_no_ratio_no_validation():
    assert not validation(np.array([0, 0, 0]), Validation(), rng(0)).any()
