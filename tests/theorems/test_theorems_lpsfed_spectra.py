"""LPSFed's Theorem 3.1: spectra and limits by hand, the rate, what holds, and a bulk of noise that would show."""

import numpy as np
import pytest

from fedbench.cli.__main__ import main
from fedbench.theorems import lpsfed_spectra
from fedbench.theorems._blocks import Blocks, divergence, lowest, uneven
from tests.theorems.support import held, pick


@pytest.fixture(scope="module")
def rows():
    return list(lpsfed_spectra.measure())


def test_the_lowest_eigenvalues_are_those_of_the_whole_laplacian():
    taken = (np.random.default_rng(0).random((9, 9)) < 0.5).astype(float)
    whole = np.block([[np.zeros((9, 9)), taken], [taken.T, np.zeros((9, 9))]])
    root = whole.sum(1) ** -0.5
    expected = np.linalg.eigvalsh(np.eye(18) - root[:, None] * whole * root)[:9]
    np.testing.assert_allclose(lowest(taken, 9), expected, atol=1e-7)
    assert lowest(np.eye(2), 4).tolist() == [0.0, 0.0, 1.0, 1.0]


def test_the_limit_by_hand():
    """Two communities with chances a inside and b between: eigenvalues 0 and 1 - (a - b) / (a + b)."""
    model = Blocks(np.array([[0.6, 0.2], [0.2, 0.6]]))
    np.testing.assert_allclose(model.limit(4), [0.0, 0.5, 1.0, 1.0], atol=1e-12)


def test_large_graphs_are_near_the_limit():
    model = Blocks(uneven(3, 0.1))
    found = lowest(model.draw(900, np.random.default_rng(1)), 3)
    np.testing.assert_allclose(found, model.limit(3), atol=0.01)


def test_divergence_by_hand():
    assert divergence(np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 3.0])) == pytest.approx(0.5 * np.log(4 / 3))
    assert divergence(np.array([0.0, 2.0]), np.array([0.0, 7.0])) == pytest.approx(0.0, abs=1e-9)


def test_the_largest_constant_just_meets_the_smallest_graphs():
    found = np.array([[0.1, 0.2, 0.3, 0.4]])
    c = lpsfed_spectra.largest_c(found, 5)
    n = lpsfed_spectra.SIZES[0]
    chances = [4 * 5 * np.exp(-c * n * off**2 / 8) for off in found[0]]
    assert all(chance >= share - 1e-12 for chance, share in zip(chances, (1, 0.75, 0.5, 0.25), strict=True))
    assert min(chance - share for chance, share in zip(chances, (1, 0.75, 0.5, 0.25), strict=True)) < 1e-12


def test_the_bound_is_the_probability_turned_round():
    off = lpsfed_spectra.bound(7, 3.0, 0.2)
    chance = 4 * 7 * np.exp(-3.0 * np.array(lpsfed_spectra.SIZES) * off**2 / 8)
    np.testing.assert_allclose(chance, 0.2)


def test_what_holds_and_what_does_not(rows):
    assert held(pick(rows, "printed", "exponent")) == {True}
    assert held(pick(rows, "printed", "within the bound")) == {True}
    assert held(pick(rows, "printed", "deviation at the larger gap")) == {False}
    assert held(pick(rows, "printed", "at least 0")) == {False}
    assert held(pick(rows, "misread", "constant degree")) == {False}


def test_a_wrong_limit_is_noticed(monkeypatch):
    """Off by a constant, the deviation stops falling."""
    pair, phi = lpsfed_spectra._settings()["communities alone"]
    monkeypatch.setattr(Blocks, "limit", lambda model, count: lowest(model.chances**3, count))
    assert lpsfed_spectra.rate(lpsfed_spectra.deviations(pair, phi, (100, 200))) > -0.5


def test_the_plot_is_written_with_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(lpsfed_spectra, "measure", lambda: iter(()))
    lines = {"measured": (np.array([1.0, 2.0]), np.array([3.0, 4.0]))}
    monkeypatch.setattr(lpsfed_spectra, "curves", lambda: lines)
    for folder in ("one", "two"):
        assert main(["theorems", "lpsfed-spectra", "--out", str(tmp_path / folder / "t.csv")]) == 0
    for suffix in ("pdf", "png"):
        once, again = ((tmp_path / f / f"t-lpsfed-spectra.{suffix}").read_bytes() for f in ("one", "two"))
        assert once == again


def test_curves_have_measure_and_bound_of_each_setting(monkeypatch):
    monkeypatch.setattr(lpsfed_spectra, "SIZES", (20, 40))
    monkeypatch.setattr(lpsfed_spectra, "GRAPHS", 10)
    found = lpsfed_spectra.curves()
    assert len(found) == 4
    assert all(len(x) == len(y) == 2 and (y > 0).all() for x, y in found.values())
