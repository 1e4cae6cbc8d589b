"""Theorem 3.1: the rule and the gradient by hand, where each sign leads, and a flipped sign that the rows notice."""

import numpy as np
import pytest

from fedbench.theorems import fedaux_oja
from fedbench.theorems._oja import alignment, covariance, descend, follow, loss_gradient
from fedbench.theorems._sorting import plain_average
from tests.theorems.support import held, pick

C = np.diag([2.0, 1.0])


@pytest.fixture(scope="module")
def rows():
    return list(fedaux_oja.measure())


def test_one_step_by_hand():
    start = np.array([1.0, 1.0]) / np.sqrt(2)
    np.testing.assert_allclose(follow(C, 1.0, start, 1), np.array([3.0, 2.0]) / np.sqrt(13), rtol=1e-14)
    np.testing.assert_allclose(follow(C, -0.25, start, 1), np.array([2.0, 3.0]) / np.sqrt(13), rtol=1e-14)


def test_many_steps_are_a_power_of_the_matrix():
    start = np.array([0.6, 0.8])
    power = np.linalg.matrix_power(np.eye(2) + 0.3 * C, 20) @ start
    np.testing.assert_allclose(follow(C, 0.3, start, 20), power / np.linalg.norm(power), rtol=1e-12)


def test_alignment_by_hand():
    assert alignment(np.array([-3.0, 0.0]), C, -1) == pytest.approx(1.0)
    assert alignment(np.array([-3.0, 0.0]), C, 0) == pytest.approx(0.0)
    assert alignment(np.array([1.0, 1.0]), C, 0) == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize("variances", [fedaux_oja.SPREAD, fedaux_oja.ROUND])
def test_drawn_embeddings_are_centred_with_the_stated_spectrum(variances):
    h, a = fedaux_oja.draw(variances)
    np.testing.assert_allclose(h.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(covariance(h)), sorted(variances), rtol=1e-10)
    assert np.linalg.norm(a) == pytest.approx(1.0)


@pytest.mark.parametrize("sigma", [1.0, 0.3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_gradient_is_the_slope_of_the_plain_loss(sigma, sign):
    h, a = fedaux_oja.draw(fedaux_oja.SPREAD)

    def loss(apv):
        return sign * np.sum(plain_average(h @ apv, h, sigma) ** 2) / (2 * len(h))

    slopes = [(loss(a + e) - loss(a - e)) / 2e-5 for e in 1e-5 * np.eye(len(a))]
    np.testing.assert_allclose(loss_gradient(h, a, sigma, sign), slopes, rtol=1e-5, atol=1e-8)


def test_one_descent_step_is_the_gradient_s():
    h, a = fedaux_oja.draw(fedaux_oja.SPREAD)
    expected = a - 0.5 * loss_gradient(h, a, 1.0)
    np.testing.assert_allclose(descend(h, a, 1.0, 1.0, 0.5, 1), expected / np.linalg.norm(expected), rtol=1e-14)


def test_plus_leads_to_the_top_and_minus_to_the_bottom(rows):
    assert held(pick(rows, "printed", "a - eta C a leads to the largest", "1 ... 0.02")) == {False}
    assert held(pick(rows, "corrected", "a + eta C a leads to the largest")) == {True}
    assert held(pick(rows, "corrected", "a - eta C a leads to the smallest")) == {True}
    assert held(pick(rows, "printed", "overshoots")) == {True}


def test_every_corrected_claim_holds(rows):
    assert held(pick(rows, "corrected")) == {True}


def test_the_gradient_is_not_equation_9(rows):
    assert held(pick(rows, "printed", "norm of the gradient")) == {False}
    assert held(pick(rows, "printed", "cosine of the gradient")) == {False}
    assert held(pick(rows, "printed", "add up")) == {False}


def test_equation_9_itself_would_pass(monkeypatch):
    def stated(h, a, sigma, sign=1.0):
        return -2 / sigma**2 * covariance(h) @ a

    monkeypatch.setattr(fedaux_oja, "loss_gradient", stated)
    rows = list(fedaux_oja._gradient())
    assert held(pick(rows, "printed")) == {True}
    assert held(pick(rows, "corrected")) == {False}


def test_a_flipped_sign_is_noticed(monkeypatch):
    monkeypatch.setattr(fedaux_oja, "follow", lambda c, step, start, steps: follow(c, -step, start, steps))
    rows = [*fedaux_oja._rule(0.5, "0.5"), *fedaux_oja._second_axis()]
    assert held(pick(rows, "corrected")) == {False}
    assert held(pick(rows, "printed")) == {True}
