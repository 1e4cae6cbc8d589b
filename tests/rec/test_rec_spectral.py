"""Spectral co-clusters against scikit-learn, planted groups and the Laplacian they stand for."""

import numpy as np
import pytest
from rec_support import blocks, rng, spectral
from scipy import sparse
from sklearn.cluster import SpectralCoclustering
from sklearn.metrics import adjusted_rand_score

from fedbench.datasets.rec.raw import TRAIN
from fedbench.errors import DataError
from fedbench.partition.rec.clients import train_matrix
from fedbench.partition.rec.spectral import co_clusters, normalised
from fedbench.partition.rec.svd import truncated_svd


def matrix_of(data) -> sparse.csr_matrix:
    return train_matrix(*data.pairs_of(TRAIN), (data.n_users, data.n_items))


def test_normalised_by_hand():
    matrix = sparse.csr_matrix(np.array([[1.0, 1, 0], [0, 1, 0]]))
    scaled, user, item = normalised(matrix, 0.0)
    np.testing.assert_allclose(user, [1 / np.sqrt(2), 1])
    np.testing.assert_allclose(item, [1, 1 / np.sqrt(2), 0])
    np.testing.assert_allclose(scaled.toarray(), [[1 / np.sqrt(2), 0.5, 0], [0, 1 / np.sqrt(2), 0]])


def test_regularised_by_hand():
    """Mean degrees are 3/2 (users) and 1 (items); a node without pairs stays at 0."""
    matrix = sparse.csr_matrix(np.array([[1.0, 1, 0], [0, 1, 0]]))
    _, user, item = normalised(matrix, 2.0)
    np.testing.assert_allclose(user, [5**-0.5, 4**-0.5])
    np.testing.assert_allclose(item, [3**-0.5, 4**-0.5, 0])


def test_singular_values_are_the_low_end_of_the_laplacian():
    matrix = matrix_of(blocks())
    adjacency = sparse.block_array([[None, matrix], [matrix.T, None]]).toarray()
    root = np.diag(adjacency.sum(axis=1) ** -0.5)
    laplacian = np.eye(len(root)) - root @ adjacency @ root
    values = truncated_svd(normalised(matrix, 0.0)[0], 5, rng(0)).values
    np.testing.assert_allclose(1 - values, np.linalg.eigvalsh(laplacian)[:5], atol=1e-9)


@pytest.mark.parametrize("outside", [0.03, 0.1])
@pytest.mark.parametrize("groups", [2, 3, 4])
def test_dhillon_as_scikit_learn(groups, outside):
    matrix = matrix_of(blocks(60, 80, groups, outside=outside))
    user, item = co_clusters(matrix, groups, spectral(method="dhillon", vectors="log2"), rng(0))
    theirs = SpectralCoclustering(groups, n_init=10, random_state=0).fit(matrix)
    assert adjusted_rand_score(theirs.row_labels_, user) == 1
    assert adjusted_rand_score(theirs.column_labels_, item) == 1


@pytest.mark.parametrize("method", ["rownorm", "dhillon"])
@pytest.mark.parametrize("groups", [2, 3, 4])
def test_planted_groups_are_found(method, groups):
    user, item = co_clusters(matrix_of(blocks(60, 80, groups)), groups, spectral(method=method), rng(0))
    assert adjusted_rand_score(np.arange(60) % groups, user) == 1
    assert adjusted_rand_score(np.arange(80) % groups, item) == 1
    assert (user[:groups] == item[:groups]).all()


def test_a_node_without_pairs_has_no_cluster():
    matrix = sparse.csr_matrix(sparse.block_diag([matrix_of(blocks()), np.zeros((1, 2))]))
    user, item = co_clusters(matrix, 3, spectral(), rng(0))
    assert (np.flatnonzero(user < 0).tolist(), np.flatnonzero(item < 0).tolist()) == ([30], [40, 41])


def test_more_clusters_than_different_nodes_are_refused():
    with pytest.raises(DataError, match="different nodes"):
        co_clusters(sparse.csr_matrix(np.ones((6, 6))), 5, spectral(), rng(0))
