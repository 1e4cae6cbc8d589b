"""The minimum cut against every cut, the warping distance by hand and against a recursion."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbench.methods._min_cut import min_cut
from fedbench.methods._warping import unit_spread, warping_distances
from tests.reference.methods.gcfl_plus import warping


@given(st.integers(2, 6), st.integers(0, 2**16))
def test_the_cut_is_the_cheapest_of_all(clients: int, seed: int) -> None:
    weights = np.random.default_rng(seed).random((clients, clients))
    weights += weights.T
    sides = [list(s) for size in range(1, clients) for s in combinations(range(clients), size) if 0 in s]
    costs = [sum(weights[i, j] for i in s for j in range(clients) if j not in s) for s in sides]
    best = sides[int(np.argmin(costs))]
    assert min_cut(weights) == (best, [k for k in range(clients) if k not in best])


def test_warping_by_hand() -> None:
    """0 1 2 against 0 2 2: 1 meets 0 or 2, at a cost of 1; against 0 0 1 2 it would be free, so a delay is too."""
    distances = warping_distances(np.array([[0.0, 1.0, 2.0], [0.0, 2.0, 2.0], [3.0, 3.0, 3.0]]))
    assert distances[0].tolist() == pytest.approx([0.0, 1.0, np.sqrt(9 + 4 + 1)])
    assert warping_distances(np.array([[0.0, 1.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0]])).tolist() == [[0, 0], [0, 0]]


@given(st.integers(1, 5), st.integers(1, 7), st.integers(0, 2**16))
def test_warping_equals_a_recursion(rows: int, length: int, seed: int) -> None:
    lines = np.random.default_rng(seed).normal(size=(rows, length))
    plain = [[warping(list(a), list(b)) for b in lines] for a in lines]
    assert np.allclose(warping_distances(lines), plain, atol=1e-12)


def test_standardised_series_have_unit_spread() -> None:
    scaled = unit_spread(np.array([[1.0, 3.0], [10.0, 30.0], [7.0, 7.0]]))
    assert scaled.tolist() == [[1.0, 3.0], [1.0, 3.0], [7.0, 7.0]]
