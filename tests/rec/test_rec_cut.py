"""Who has what: small cases by hand, and what holds for any labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rec_support import at_random, pair_sets

from fedbench.partition.rec.cut import cut_of

# users 0, 1 | 2, 3 and items 0, 1 | 2, 3; item 4 has no pair; (1, 2) crosses
USERS, ITEMS = np.array([0, 0, 1, 1, 2, 2, 2, 3]), np.array([0, 1, 1, 2, 2, 3, 3, 3])
USERS, ITEMS = USERS[[0, 1, 2, 3, 4, 5, 7]], ITEMS[[0, 1, 2, 3, 4, 5, 7]]
USER_LABEL, ITEM_LABEL = np.array([1, 1, 0, 0]), np.array([1, 1, 0, 0, 0])


def cut(scheme, user_label=USER_LABEL, item_label=ITEM_LABEL, users=USERS, items=ITEMS):
    return cut_of(user_label, item_label, users, items, scheme)


def members(found) -> dict[int, list[int]]:
    return {int(c): found.item[found.item_client == c].tolist() for c in np.unique(found.item_client)}


def test_disjoint_by_hand():
    """Both keep three pairs and have two users: the cluster of the smaller number comes first."""
    found = cut(at_random("disjoint"))
    assert found.user_client.tolist() == [1, 1, 0, 0]
    assert members(found) == {0: [2, 3], 1: [0, 1]}
    assert found.keeps(USERS, ITEMS).tolist() == [True, True, True, False, True, True, True]


def test_by_user_by_hand():
    """The pair (1, 2) stays, so the first two users have more pairs and come first; item 2 is in both."""
    found = cut(at_random("by_user"))
    assert found.user_client.tolist() == [0, 0, 1, 1]
    assert members(found) == {0: [0, 1, 2], 1: [2, 3]}
    assert found.keeps(USERS, ITEMS).all()


def test_an_item_that_keeps_no_pair_stays_or_goes():
    label = np.array([1, 1, 0, 1, 0])  # item 3 goes to the others, whose users never took it
    assert members(cut(at_random("disjoint"), item_label=label)) == {0: [0, 1, 3], 1: [2]}
    assert members(cut(at_random("disjoint", drop_isolated=True), item_label=label)) == {0: [0, 1], 1: [2]}


def test_a_user_without_pairs_joins_the_client_of_most_pairs():
    found = cut(at_random("by_user"), user_label=np.array([1, 1, 0, 0, -1]))
    assert found.user_client.tolist() == [0, 0, 1, 1, 0]


def test_a_lookup_of_nothing():
    found = cut(at_random("disjoint"))
    assert found.holds(np.array([0, 1, 1]), np.array([4, 4, 999])).tolist() == [False, False, False]


@pytest.mark.parametrize("items_are", ["disjoint", "by_user"])
@pytest.mark.parametrize("drop", [False, True])
@given(pairs=pair_sets(), labels=st.randoms(use_true_random=False), clusters=st.integers(2, 4))
def test_what_holds_for_any_labels(items_are, drop, pairs, labels, clusters):
    users, items = np.array(pairs, dtype=np.int64).T
    user_label = np.array([labels.randrange(clusters) for _ in range(8)])
    item_label = np.array([labels.randrange(clusters) for _ in range(9)])
    found = cut(at_random(items_are, drop_isolated=drop), user_label, item_label, users, items)
    has = [set(found.item[found.item_client == client].tolist()) for client in range(clusters)]
    wanted = [item in has[found.user_client[user]] for user, item in pairs]
    assert found.keeps(users, items).tolist() == wanted
    same = user_label[:, None] == user_label
    assert np.array_equal(same, found.user_client[:, None] == found.user_client)
    assert np.unique(found.item).size == found.item.size or items_are == "by_user"
    inside = np.bincount(found.user_client[users[found.keeps(users, items)]], minlength=clusters)
    assert (np.diff(inside) <= 0).all()
    touched = {(int(found.user_client[user]), item) for user, item in pairs}
    memberships = set(zip(found.item_client.tolist(), found.item.tolist(), strict=True))
    if items_are == "by_user":
        assert memberships == touched
        assert all(wanted)
    elif drop:
        assert memberships <= touched
    else:
        assert {item for _, item in memberships} == set(items.tolist())
