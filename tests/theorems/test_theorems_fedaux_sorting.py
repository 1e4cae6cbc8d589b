"""Theorem 3.2: Conv1D and kernel averages by hand, the limit's direction, and broken rules that the rows notice."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbench.theorems import fedaux_sorting
from fedbench.theorems._conv1d import conv1d, corrected_lipschitz, exact_lipschitz, printed_lipschitz
from fedbench.theorems._sorting import average, distance_bound, draw, plain_average
from tests.theorems.support import held, pick


@pytest.fixture(scope="module")
def rows():
    return list(fedaux_sorting.measure())


def scalars(*values):
    return np.array(values, dtype=float).reshape(-1, 1)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [((1, 10, 100), (210, 321, 32)), ((1, 10), (21, 32, 3)), ((2,), (2, 4, 6)), ((1, 0, 0, 0, 0), (0, 0, 1))],
)
def test_conv1d_by_hand(kernel, expected):
    assert conv1d(np.array(kernel, dtype=float).reshape(-1, 1, 1), scalars(1, 2, 3)).ravel() == pytest.approx(expected)


def test_conv1d_is_torch_s():
    random = np.random.default_rng(0)
    kernel, x = random.standard_normal((5, 3, 4)), random.standard_normal((11, 4))
    weights = torch.from_numpy(kernel.transpose(1, 2, 0).copy())
    theirs = torch.nn.functional.conv1d(torch.from_numpy(x.T.copy())[None], weights, padding=2)[0].T
    np.testing.assert_allclose(conv1d(kernel, x), theirs.numpy(), atol=1e-12)


def test_lipschitz_constants_by_hand():
    one = np.diag([3.0, 1.0])[None]
    assert [f(one) for f in (printed_lipschitz, corrected_lipschitz)] == pytest.approx([3.0, 3.0])
    assert exact_lipschitz(one, 7) == pytest.approx(3.0)
    mean = np.ones((3, 1, 1))
    assert (printed_lipschitz(mean), corrected_lipschitz(mean)) == pytest.approx((np.sqrt(3), 3.0))
    assert exact_lipschitz(mean, 3) == pytest.approx(1 + np.sqrt(2))  # the tridiagonal matrix of ones
    x = np.ones((100, 1))
    assert np.linalg.norm(conv1d(mean, x)) > printed_lipschitz(mean) * np.linalg.norm(x)  # eq. 31 as printed fails


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 3), st.integers(0, 10**6))
def test_no_sequence_beats_the_exact_constant_nor_it_the_corrected_one(taps, length, width, seed):
    random = np.random.default_rng(seed)
    kernel, x = random.standard_normal((taps, width, width)), random.standard_normal((length, width))
    exact = exact_lipschitz(kernel, length)
    assert np.linalg.norm(conv1d(kernel, x)) <= exact * np.linalg.norm(x) * (1 + 1e-12)
    assert exact <= corrected_lipschitz(kernel) * (1 + 1e-12)


def test_averages_by_hand():
    scores, h = np.array([0.0, 1.0]), np.array([[1.0, 0.0], [0.0, 1.0]])
    other = np.exp(-4.0)
    expected = np.array([[1.0, other], [other, 1.0]]) / (1 + other)
    np.testing.assert_allclose(plain_average(scores, h, 0.5), expected, rtol=1e-14)
    np.testing.assert_allclose(average(scores, h, 0.5), expected, rtol=1e-14)
    np.testing.assert_allclose(average(np.zeros(2), h, 1e-9), np.full((2, 2), 0.5), rtol=1e-14)


def test_drawn_scores_are_sorted_and_distinct():
    _, scores = draw(200, 8)
    assert np.all(np.diff(scores) > 0)
    np.testing.assert_array_equal(draw(200, 8)[1], scores)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.floats(0.05, 3.0), st.integers(0, 10**6))
def test_the_lemma_bounds_any_width(nodes, ratio, seed):
    random = np.random.default_rng(seed)
    h, scores = random.standard_normal((nodes, 3)), np.sort(random.standard_normal(nodes))
    sigma = ratio * np.diff(scores).min()
    moved = np.linalg.norm(plain_average(scores, h, sigma) - h)
    assert moved <= distance_bound(scores, h, sigma) * (1 + 1e-9) + 1e-12


def test_narrower_kernels_are_closer_and_the_narrowest_are_there(rows):
    for nodes in fedaux_sorting.SIZES:
        found = pick(rows, "printed", "lemma C.6", f"N = {nodes},")
        distances = [row.measured for row in found]
        assert distances == sorted(distances, reverse=True)
        assert distances[0] > 0.1 and distances[-1] < 1e-12
    assert held(pick(rows, "printed", "goes to 0", "0.15 g")) == {True}


def test_what_holds_and_what_does_not(rows):
    assert held(pick(rows, "corrected")) == {True} and held(pick(rows, "check")) == {True}
    assert held(pick(rows, "printed", "LIP", "moving average")) == {False}
    assert held(pick(rows, "printed", "distinct scores")) == {False}
    assert held(pick(rows, "misread", "N = 1000")) == {False}


def test_an_exponent_without_its_square_is_noticed(monkeypatch):
    def wrong(scores, h, sigma, form=None):
        kernel = np.exp(-np.abs(scores[:, None] - scores[None]) / sigma)
        return kernel @ h / kernel.sum(1, keepdims=True)

    monkeypatch.setattr(fedaux_sorting, "average", wrong)
    rows = list(fedaux_sorting._limit(60)) + list(fedaux_sorting._kernel_average())
    assert held(pick(rows, "printed", "lemma C.6", "0.15 g")) == {False}
    assert held(pick(rows, "printed", "goes to 0")) == {False}
    assert held(pick(rows, "check")) == {False}


def test_a_constant_without_the_root_of_taps_is_noticed(monkeypatch):
    monkeypatch.setattr(fedaux_sorting, "corrected_lipschitz", printed_lipschitz)
    rows = list(fedaux_sorting._lipschitz("moving average", np.ones((3, 1, 1))))
    assert held(pick(rows, "corrected")) == {False}
