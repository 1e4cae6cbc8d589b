"""The controls: clients of equal size at random, and label-Dirichlet clients of the skew that alpha says."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_support import rng, scheme_of

from fedbench.errors import ConfigurationError, DataError
from fedbench.partition.controls import dirichlet_clients, random_clients
from fedbench.partition.kinds import DirichletScheme
from fedbench.settings import parse

DIRICHLET = scheme_of("dirichlet")


@given(st.integers(1, 200), st.integers(1, 20), st.integers(0, 2**31))
def test_random_clients_differ_by_one_node_at_most(nodes, clients, seed):
    sizes = np.bincount(random_clients(nodes, clients, rng(seed)), minlength=clients)
    assert sizes.sum() == nodes
    assert sizes.max() - sizes.min() <= 1


@settings(deadline=None)
@given(st.integers(1, 8), st.floats(0.1, 100), st.integers(1, 5), st.integers(0, 2**31))
def test_dirichlet_clients_have_the_smallest_size_or_are_refused(clients, alpha, smallest, seed):
    y = rng(seed).integers(0, 4, 120)
    scheme = DIRICHLET.model_copy(update={"alpha": alpha, "smallest": smallest})
    try:
        client = dirichlet_clients(y, clients, scheme, rng(seed))
    except DataError as error:
        assert "in each of 1,000 draws" in error.found
    else:
        assert client.shape == (120,)
        assert np.bincount(client, minlength=clients).size == clients
        assert np.bincount(client, minlength=clients).min() >= smallest


def skew(alpha: float) -> float:
    """Return the mean total variation distance between a client's class shares and the overall ones."""
    y = np.repeat(np.arange(5), 1000)
    scheme = DIRICHLET.model_copy(update={"alpha": alpha, "smallest": 1})
    distance = []
    for seed in range(20):
        counts = np.zeros((10, 5))
        np.add.at(counts, (dirichlet_clients(y, 10, scheme, rng(seed)), y), 1)
        distance.append(np.abs(counts / counts.sum(axis=1, keepdims=True) - 0.2).sum(axis=1) / 2)
    return float(np.mean(distance))


def test_a_small_alpha_skews_the_classes_and_a_large_one_evens_them():
    assert skew(0.1) > 0.55
    assert 0.2 < skew(1) < 0.4
    assert skew(1000) < 0.03


def test_the_nodes_of_a_class_are_dealt_in_random_order():
    one, other = (dirichlet_clients(np.zeros(200, dtype=int), 2, DIRICHLET, rng(seed)) for seed in (0, 1))
    for client in (one, other):
        assert np.abs(np.diff(client)).sum() > 10  # dealt in order, it would change once


def test_dirichlet_shares_have_the_distributions_mean_and_variance():
    y, scheme = np.zeros(1000, dtype=int), DIRICHLET.model_copy(update={"alpha": 2.0, "smallest": 1})
    shares = np.array([np.bincount(dirichlet_clients(y, 4, scheme, rng(s)), minlength=4) / 1000 for s in range(800)])
    np.testing.assert_allclose(shares.mean(axis=0), 0.25, atol=0.02)
    np.testing.assert_allclose(shares.var(axis=0), 0.25 * 0.75 / 9, rtol=0.2)  # a(A - a) / (A^2 (A + 1)), A = 8


@pytest.mark.parametrize(("nodes", "alpha", "found"), [(99, 0.5, "^99 nodes$"), (100, 0.01, "in each of 1,000 draws$")])
def test_dirichlet_clients_that_can_not_be_are_refused(nodes, alpha, found):
    scheme = DIRICHLET.model_copy(update={"alpha": alpha})
    with pytest.raises(DataError) as caught:
        dirichlet_clients(np.zeros(nodes, dtype=int), 10, scheme, rng(0))
    assert re.search(found, caught.value.found)
    assert "at least 10 nodes" in caught.value.allowed
    assert "alpha" in caught.value.remedy


def test_an_alpha_of_nothing_is_refused():
    with pytest.raises(ConfigurationError, match="alpha"):
        parse(DirichletScheme, DIRICHLET.model_dump() | {"alpha": 0}, "test")
