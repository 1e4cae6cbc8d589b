"""The npz files of shchur/gnn-benchmark (Shchur et al. 2018): Amazon and co-author graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from fedbench.datasets.members import read_members
from fedbench.datasets.raw import RawNodes, raw_nodes
from fedbench.sources.formats import GnnBenchmarkFile

PARTS = ("data", "indices", "indptr", "shape")


def load(folder: Path, loader: GnnBenchmarkFile) -> RawNodes:
    """Return the whole graph in the file's node order, as PyG's ``read_npz`` reads it.

    Every feature above 0 becomes 1: the co-author files count keywords, the Amazon files hold ones anyway. Edges lose
    their direction. The names of nodes, features and classes stay unopened (some are pickled).
    """
    path = folder / loader.file
    adjacency = _matrix(path, "adj").tocoo()
    x = _matrix(path, "attr")
    (y,) = read_members(path, ("labels",))
    ones = sparse.csr_matrix(((x.data > 0).astype(np.float32), x.indices, x.indptr), x.shape)
    return raw_nodes(ones, y, np.stack([adjacency.row, adjacency.col]))


def _matrix(path: Path, prefix: str) -> sparse.csr_matrix:
    data, indices, indptr, shape = read_members(path, tuple(f"{prefix}_{part}" for part in PARTS))
    return sparse.csr_matrix((data, indices, indptr), tuple(shape))
