"""Theorem 3.3: gaps and bound by hand and by sampling, where the bound holds, and a broken step that shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbench.theorems import _federations as federations
from fedbench.theorems import fedaux_convergence
from fedbench.theorems._quadratics import Clients, Plan, expected_gaps, mixing_distance, printed_bound
from tests.theorems.support import held, pick

AVERAGE = np.full((2, 2), 0.5)


@pytest.fixture(scope="module")
def rows():
    return list(fedaux_convergence.measure())


def two(zeta=0.0):
    """Return two clients with L(x) = (x - c)^2 / 2 and c = 1, -1."""
    return Clients(np.ones((2, 1, 1)), np.array([[1.0], [-1.0]]), zeta)


def plan(mixing, rounds=3, eta=0.5, steps=1):
    return Plan(mixing, eta, steps, rounds, np.zeros(mixing.shape[0] // 2))


def test_averaging_two_opposed_clients_by_hand():
    """Each moves half of the way to +-1, the average is 0 again: the gap stays 1/2."""
    assert expected_gaps(two(), plan(AVERAGE)) == pytest.approx([0.5] * 4)


def test_clients_alone_by_hand():
    """Each halves its distance a step; two steps a round."""
    assert expected_gaps(two(), plan(np.eye(2), 2, steps=2)) == pytest.approx([0.5, 0.5 / 16, 0.5 / 256])


def test_mixing_after_the_step_by_hand():
    """Rows (3/4, 1/4): +-1/2 become +-1/4, 3/4 away from +-1."""
    mixing = np.array([[0.75, 0.25], [0.25, 0.75]])
    assert expected_gaps(two(), plan(mixing, 1))[1] == pytest.approx(0.5 * 0.75**2)


def test_noise_by_hand():
    """Two clients with one optimum at the start: variance eta^2 zeta^2 each, halved by averaging."""
    clients = Clients(np.ones((2, 1, 1)), np.zeros((2, 1)), 2.0)
    assert expected_gaps(clients, plan(np.eye(2), 1))[1] == pytest.approx(0.5 * 0.25 * 4)
    assert expected_gaps(clients, plan(AVERAGE, 1))[1] == pytest.approx(0.25 * 0.25 * 4)


def test_the_bound_by_hand():
    mixing = federations.blend(2, 0.5)
    bound = printed_bound(two(zeta=2.0), plan(mixing, 2, steps=2), 0.5)
    # eta L zeta^2 / (2 mu) = 1; 2 eta L rho^2 / (mu (1 - rho)^2) = 1
    assert bound == pytest.approx([0.5 + 2, 0.5 / 4 + 2, 0.5 / 16 + 2])


def test_expectations_are_what_sampling_gives():
    random = np.random.default_rng(1)
    clients = federations.clients(random, 3, 2, 0.3, 1.0, 1.5)
    setting = Plan(federations.drawn(random, 3, 0.6), 0.5, 2, 4, np.array([1.0, -2.0]))
    x, gaps = np.tile(setting.start, (20_000, 3, 1)), []
    for _ in range(setting.rounds):
        for _ in range(setting.local_steps):
            gradient = np.einsum("kij,skj->ski", clients.curvatures, x - clients.optima)
            x = x - setting.eta * (gradient + clients.zeta / np.sqrt(2) * random.standard_normal(x.shape))
        x = np.einsum("kl,sld->skd", setting.mixing, x)
        away = x - clients.optima
        gaps.append(np.einsum("ski,kij,skj->", away, clients.curvatures, away) / 2 / 3 / len(x))
    np.testing.assert_allclose(expected_gaps(clients, setting)[1:], gaps, rtol=0.02)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.99])
@pytest.mark.parametrize("make", [federations.blend, federations.leaning])
def test_mixing_matrices_are_where_they_say(make, rho):
    mixing = make(5, rho)
    assert mixing.sum(1) == pytest.approx(np.ones(5)) and mixing.min() >= 0
    assert mixing_distance(mixing) == pytest.approx(rho, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 7), st.floats(0, 0.999), st.integers(0, 10**6))
def test_drawn_matrices_and_clients_meet_the_assumptions(count, rho, seed):
    random = np.random.default_rng(seed)
    mixing, clients = federations.drawn(random, count, rho), federations.clients(random, count, 3, 0.1, 1.0, 0.0)
    assert mixing.sum(1) == pytest.approx(np.ones(count)) and mixing.min() >= 0
    assert mixing_distance(mixing) <= rho + 1e-9
    assert (clients.mu, clients.smoothness) == pytest.approx((0.1, 1.0))


def test_fedaux_s_matrix_by_hand():
    e = np.e
    expected = np.array([[e, 1.0], [1.0, e]]) / (e + 1)
    np.testing.assert_allclose(federations.similarity(np.diag([2.0, 3.0]), 1.0), expected, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.02, 0.9), st.floats(0, 0.99), st.sampled_from([0.0, 2.0]))
def test_with_one_optimum_the_bound_holds(seed, mu, rho, zeta):
    random = np.random.default_rng(seed)
    clients = federations.clients(random, 3, 2, mu, 0.0, zeta)
    setting = Plan(federations.drawn(random, 3, rho), 0.5, 2, 20, random.standard_normal(2))
    assert fedaux_convergence.ratios(clients, setting).max() <= 1 + 1e-12


def test_what_holds_and_what_does_not(rows):
    assert held(pick(rows, "printed", "one optimum")) == {True}
    assert held(pick(rows, "printed", "rho = 0;", "optima N(0, I)", "round 100")) == {False}
    assert held(pick(rows, "printed", "rho goes to 0")) == {False}
    assert held(pick(rows, "corrected")) == {True}


def test_the_unit_of_the_loss_decides(rows):
    found = [row.measured for row in pick(rows, "printed", "change of the loss's unit")]
    assert found == sorted(found) and found[0] < 1 < found[-1]


def test_ascent_is_noticed(monkeypatch):
    """Steps up the loss instead of down break the bound even with one optimum."""

    def ascent(clients, setting):
        return expected_gaps(clients, Plan(setting.mixing, -setting.eta, 1, setting.rounds, setting.start))

    monkeypatch.setattr(fedaux_convergence, "expected_gaps", ascent)
    assert held(pick(fedaux_convergence.measure(), "printed", "one optimum, rho = 0;", "round 100")) == {False}
