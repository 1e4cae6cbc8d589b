"""The film (actor) graph in the two text files of geom-gcn (Pei et al. 2020)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from fedbench.datasets.raw import RawNodes, raw_nodes
from fedbench.errors import DataError
from fedbench.sources.formats import FilmFiles

NODES, EDGES = "out1_node_feature_label.txt", "out1_graph_edges.txt"


def load(folder: Path, loader: FilmFiles) -> RawNodes:
    """Return the whole graph, nodes by the files' numbers, as PyG's ``Actor`` reads it.

    A line of the first file has a node's number, the numbers of its features (which are 1) and its class; a line of
    the second an edge, whose direction is dropped.

    Raises:
        DataError: the node numbers are not 0 to n - 1, once each.
    """
    lines = (folder / NODES).read_text(encoding="utf-8").splitlines()[1:]
    number, listed, label = zip(*(line.split("\t") for line in lines), strict=True)
    node = np.array(number, dtype=np.int64)
    _check_numbers(node)
    y = np.array(label, dtype=np.int64)[np.argsort(node)]
    edges = np.loadtxt(folder / EDGES, dtype=np.int64, skiprows=1)
    return raw_nodes(_ones(node, [np.array(text.split(","), dtype=np.int64) for text in listed]), y, edges.T)


def _ones(node: np.ndarray, features: list[np.ndarray]) -> sparse.csr_matrix:
    row, column = np.repeat(node, [f.size for f in features]), np.concatenate(features)
    code = np.unique(row * (column.max() + 1) + column)
    row, column = np.divmod(code, column.max() + 1)
    return sparse.csr_matrix((np.ones(code.size, np.float32), (row, column)), (node.size, int(column.max()) + 1))


def _check_numbers(node: np.ndarray) -> None:
    if not np.array_equal(np.sort(node), np.arange(node.size)):
        raise DataError(
            f"the node numbers of {NODES}",
            found=f"{node.size:,} lines, {np.unique(node).size:,} numbers from {node.min():,} to {node.max():,}",
            allowed=f"0 to {node.size - 1:,}, once each",
            remedy="fetch the file again",
        )
