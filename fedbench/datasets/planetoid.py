"""Planetoid's ``ind.*`` files (Yang et al. 2016), put together as PyG's ``read_planetoid_data`` does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy import sparse

from fedbench.datasets.raw import RawNodes, raw_nodes
from fedbench.datasets.unpickle import unpickle
from fedbench.sources.formats import PlanetoidFiles


def load(folder: Path, loader: PlanetoidFiles) -> RawNodes:
    """Return the whole graph in Planetoid's node order; the files' sums have been checked.

    ``test.index`` says where each row of ``tx`` belongs. CiteSeer leaves out 15 numbers: papers without features, to
    which PyG gives class 0 (the arg max of an empty row), and so do we. Often called isolated, they do have one or two
    edges each, and 10 of them are in the largest component.
    """
    stem = folder / f"ind.{loader.prefix}"
    tx, allx, ty, ally, graph = (unpickle(Path(f"{stem}.{part}")) for part in ("tx", "allx", "ty", "ally", "graph"))
    test = np.loadtxt(f"{stem}.test.index", dtype=np.int64)
    nodes = int(test.max()) + 1
    x = sparse.vstack([allx, _placed(sparse.csr_matrix(tx), test - allx.shape[0], nodes - allx.shape[0])])
    y = np.zeros(nodes, dtype=np.int64)
    y[: ally.shape[0]] = ally.argmax(axis=1)
    y[test] = ty.argmax(axis=1)
    return raw_nodes(x, y, _edges(graph))


def _placed(rows: sparse.csr_matrix, places: np.ndarray, size: int) -> sparse.csr_matrix:
    """Return a matrix of ``size`` rows with ``rows[i]`` at ``places[i]`` and zeros elsewhere."""
    move = sparse.csr_matrix((np.ones(places.size, rows.dtype), (places, np.arange(places.size))), (size, places.size))
    return move @ rows


def _edges(graph: Mapping[int, list[int]]) -> np.ndarray:
    source = np.repeat(list(graph), [len(targets) for targets in graph.values()])
    target = np.concatenate([np.asarray(targets, dtype=np.int64) for targets in graph.values()])
    return np.stack([source, target])
