"""The npz files of yandex-research/heterophilous-graphs (Platonov et al. 2023)."""

from __future__ import annotations

from pathlib import Path

from scipy import sparse

from fedbench.datasets.members import read_members
from fedbench.datasets.raw import RawNodes, raw_nodes
from fedbench.sources.formats import HeterophilousFile


def load(folder: Path, loader: HeterophilousFile) -> RawNodes:
    """Return the whole graph in the file's node order; its ten splits are not read."""
    x, y, edges = read_members(folder / loader.file, ("node_features", "node_labels", "edges"))
    return raw_nodes(sparse.csr_matrix(x), y, edges.T)
