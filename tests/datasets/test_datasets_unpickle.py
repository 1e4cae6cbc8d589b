"""Pickles: only Planetoid's few types, and only whole files."""

import os
import pickle

import numpy as np
import pytest
from scipy import sparse

from fedbench.datasets.unpickle import unpickle
from fedbench.errors import DataError


class Evil:
    def __reduce__(self):
        return os.mkdir, ("evil",)


@pytest.mark.parametrize("content", [Evil(), [np.zeros(2), Evil()], sparse.csr_matrix((2, 2)), np.float64(1)])
def test_other_types_are_refused(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_bytes(pickle.dumps(content, protocol=2))
    with pytest.raises(DataError, match="which such a file never needs"):
        unpickle(tmp_path / "x")
    assert not (tmp_path / "evil").exists()


def test_a_truncated_pickle_is_an_error(raw_folder, tmp_path):
    whole = (raw_folder("cora") / "ind.cora.y").read_bytes()
    (tmp_path / "y").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="unpickle"):
        unpickle(tmp_path / "y")


def test_scipys_old_module_is_not_imported(raw_folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "scipy.sparse.csr", None)  # an import of it would fail, as in SciPy 2
    assert unpickle(raw_folder("cora") / "ind.cora.x").shape == (140, 1433)
