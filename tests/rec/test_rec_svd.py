"""Singular triplets against a dense decomposition by LAPACK, on matrices of every kind that occurs."""

import numpy as np
import pytest
from rec_support import rng
from scipy import sparse
from scipy.sparse.linalg import svds

from fedbench.partition.rec.svd import SMALL, residual, truncated_svd


def random_matrix(rows: int, columns: int, seed: int = 0, density: float = 0.05) -> sparse.csr_matrix:
    return sparse.random(rows, columns, density, format="csr", random_state=rng(seed))


def many_components() -> sparse.csr_matrix:
    """Return 40 single pairs beside a large component, all scaled so that each component's largest value is 1."""
    large = random_matrix(300, 320, 3)
    large = large / svds(large, 1, return_singular_vectors=False, rng=0)[0]
    return sparse.csr_matrix(sparse.block_diag([sparse.eye(20), large, sparse.eye(20)]))


def low_rank() -> sparse.csr_matrix:
    """Return a matrix of rank 5, its rows copies of five."""
    return sparse.csr_matrix(random_matrix(5, 400, 4, 0.2)[np.arange(350) % 5])


MATRICES = {
    "small": random_matrix(40, 60),
    "small and tall": random_matrix(90, 30),
    "wide": random_matrix(SMALL + 44, 500),
    "tall": random_matrix(500, SMALL + 44),
    "many components": many_components(),
    "low rank": low_rank(),
    "empty rows and columns": sparse.csr_matrix(sparse.block_diag([random_matrix(300, 300), np.zeros((9, 7))])),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_against_lapack(name, dtype):
    matrix, rank = MATRICES[name].astype(dtype), 25
    found = truncated_svd(matrix, rank, rng(1))
    known = np.linalg.svd(MATRICES[name].toarray(), compute_uv=False)
    known = known[:rank][known[:rank] > 1e-5 * known[0]]  # none of these matrices has one between 1e-5 and 3e-3
    close = 1e-9 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found.values, known, atol=close * known[0])
    for side in (found.left, found.right):
        np.testing.assert_allclose(side.T @ side, np.eye(known.size), atol=100 * close)
    assert residual(matrix, found) < 100 * close * known[0]
    assert {found.left.dtype, found.values.dtype, found.right.dtype} == {np.dtype(dtype)}


def test_one_component_by_another_solver():
    """ARPACK's answer, asked of PROPACK."""
    matrix = random_matrix(600, 700, 5)
    other = svds(matrix, 6, solver="propack", maxiter=300, rng=0)[1]
    np.testing.assert_allclose(truncated_svd(matrix, 6, rng(2)).values, np.sort(other)[::-1], rtol=1e-6)


def test_the_same_seed_gives_the_same_bits_and_signs_do_not_depend_on_it():
    matrix = random_matrix(400, 500, 6)
    one, again, other = (truncated_svd(matrix, 8, rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.left, again.left)
    np.testing.assert_allclose(one.left, other.left, atol=1e-9)
    assert (one.left[np.abs(one.left).argmax(axis=0), np.arange(8)] > 0).all()


def test_the_residual_tells_a_wrong_answer():
    matrix = random_matrix(100, 120, 7)
    found = truncated_svd(matrix, 3, rng(0))
    wrong = type(found)(found.left[:, ::-1], found.values, found.right)
    assert residual(matrix, found) < 1e-9 < 0.1 < residual(matrix, wrong)


def test_nothing_in_nothing_out():
    found = truncated_svd(sparse.csr_matrix((4, 5)), 2, rng(0))
    assert (found.left.shape, found.values.shape, found.right.shape) == ((4, 0), (0,), (5, 0))
