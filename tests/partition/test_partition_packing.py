"""Packing communities into owners: the cap, every node once, and the released code's owners wherever that ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_support import rng

from fedbench.errors import DataError
from fedbench.partition.packing import cut_long, packed, with_every_class


def released(groups: list[list[int]], owners: int, delta: int) -> list[list[int]] | None:
    """Pack by the steps of FedSage's louvain_networkx.py, one by one; None where that never ends or fails."""
    fair, held, turn, at = sum(map(len, groups)) // owners, [[] for _ in range(owners)], list(range(owners)), 0
    for group in sorted(groups, key=len, reverse=True):
        while len(held[turn[at]]) >= fair:
            turn.remove(turn[at])
            if not turn:
                return None
            at %= len(turn)
        for _ in range(len(turn) + 1):
            if len(held[turn[at]]) + len(group) < fair + delta:
                break
            at = (at + 1) % len(turn)
        else:
            return None
        held[turn[at]] += group
    return [sorted(nodes) for nodes in held]


@st.composite
def grouped(draw):
    owners, delta = draw(st.integers(1, 6)), draw(st.integers(2, 12))
    sizes = draw(st.lists(st.integers(1, 40), min_size=1, max_size=30))
    nodes = np.array(draw(st.permutations(range(sum(sizes)))))
    most = max(1, sum(sizes) // owners - delta)
    groups = cut_long([np.sort(part) for part in np.split(nodes, np.cumsum(sizes)[:-1])], most)
    return groups, owners, delta, most


@settings(max_examples=300, deadline=None)
@given(grouped())
def test_packing_keeps_every_node_below_the_cap(drawn):
    groups, owners, delta, most = drawn
    held = packed(groups, owners, delta)
    nodes = sum(group.size for group in groups)
    assert max(group.size for group in groups) <= most
    assert len(held) == owners
    assert np.sort(np.concatenate(held)).tolist() == list(range(nodes))
    assert max(group.size for group in held) < nodes // owners + delta


@settings(max_examples=300, deadline=None)
@given(grouped())
def test_packing_is_the_released_codes_wherever_that_ends(drawn):
    groups, owners, delta, _ = drawn
    expected = released([group.tolist() for group in groups], owners, delta)
    if expected is not None:
        assert [nodes.tolist() for nodes in packed(groups, owners, delta)] == expected


def test_packing_where_the_released_code_never_ends():
    sizes = [80, 80, 80, 60]  # three owners of fewer than 120: the last group fits nowhere
    groups = np.split(np.arange(300), np.cumsum(sizes)[:-1])
    assert released([group.tolist() for group in groups], 3, 20) is None
    assert sorted(nodes.size for nodes in packed(groups, 3, 20)) == [80, 101, 119]


def test_long_communities_are_cut():
    groups = cut_long([np.arange(7), np.arange(7, 9)], 3)
    assert [group.tolist() for group in groups] == [[0, 1, 2], [3, 4, 5], [6], [7, 8]]


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(0, 3), st.integers(1, 4), st.integers(0, 2**31))
def test_every_client_gets_some_of_every_class_and_no_more_nodes_move_than_needed(clients, least, classes, seed):
    draw = rng(seed)
    y = np.repeat(np.arange(classes), clients * least + draw.integers(1, 10, classes))
    before = draw.integers(0, clients, y.size)
    after = with_every_class(before, y, clients, least)
    lacking = 0
    for label in range(classes):
        assert np.bincount(after[y == label], minlength=clients).min() >= least
        lacking += np.maximum(least - np.bincount(before[y == label], minlength=clients), 0).sum()
    assert (after != before).sum() == lacking


def test_a_class_too_rare_for_all_owners_is_refused():
    with pytest.raises(DataError, match="3 nodes of class 1") as caught:
        with_every_class(np.array([0, 0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 1, 1]), 2, 2)
    assert "per_class" in caught.value.remedy
