"""Numbers of users and items: official ids where they are the order, otherwise content alone."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rec_support import NINE_TO_ONE, pair_sets, raw, split_of

from fedbench.datasets.rec.order import numbered


def test_official_ids_without_gaps_and_a_users_pairs_in_file_order():
    pairs = numbered(raw([(9, 40), (4, 30), (9, 10), (9, 30)]), "official")
    assert pairs.user_id.tolist() == [4, 9]
    assert pairs.item_id.tolist() == [10, 30, 40]
    assert list(zip(pairs.users.tolist(), pairs.items.tolist(), strict=True)) == [(0, 1), (1, 2), (1, 0), (1, 1)]


@settings(deadline=None)
@given(pairs=pair_sets(), new=st.randoms(use_true_random=False))
def test_by_content_it_does_not_matter_how_a_source_numbers_and_sorts(pairs, new):
    users, items = (list(range(100, 120)) for _ in range(2))
    new.shuffle(users)
    new.shuffle(items)
    other = [(users[user], items[item]) for user, item in pairs]
    new.shuffle(other)
    here, there = (split_of(raw(which), NINE_TO_ONE, "content") for which in (pairs, other))
    for array in ("users", "items", "split"):
        assert np.array_equal(getattr(here, array), getattr(there, array))
    assert here.meta == there.meta


@settings(deadline=None)
@given(pairs=pair_sets())
def test_by_content_the_ids_lead_back_to_the_raw_pairs(pairs):
    found = numbered(raw(pairs), "content")
    back = zip(found.user_id[found.users].tolist(), found.item_id[found.items].tolist(), strict=True)
    assert sorted(back) == sorted(pairs)
    assert (np.diff(found.users) >= 0).all()


def test_official_order_is_another_one():
    """The test above would also pass if both orders were by id and every source numbered alike."""
    pairs = [(0, 0), (0, 1), (0, 2), (1, 0)]
    swapped = [(1 - user, item) for user, item in pairs]
    here, there = (numbered(raw(which), "official") for which in (pairs, swapped))
    assert not np.array_equal(here.users, there.users)
