"""The text files of TUDataset (Morris et al. 2020), read as PyG's ``read_tu_data`` does. Edge labels are not read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets.raw_graphs import RawGraphs, raw_graphs
from fedbench.errors import DataError
from fedbench.sources.formats import TuFiles


def load(folder: Path, loader: TuFiles) -> RawGraphs:
    """Return the graphs in the files' order.

    ``A`` has an edge a line (two node numbers from 1), ``graph_indicator`` the graph of each node (from 1, ascending),
    ``graph_labels`` a label a graph; ``node_labels`` one number a node, ``node_attributes`` one row a node.

    Raises:
        DataError: the files don't fit together, or nodes are not listed graph by graph.
    """
    read = _reader(folder, loader.prefix)
    extra: dict[str, Any] = {}
    if loader.nodes == "labels":
        extra["node_labels"] = _single(read("node_labels", np.int64), "node label")
    if loader.nodes == "attributes":
        extra["node_attributes"] = read("node_attributes", np.float64)
    graph = _single(read("graph_indicator", np.int64), "graph")
    labels = _single(read("graph_labels", np.int64), "graph label")
    return raw_graphs(_sizes(graph, labels.size), read("A", np.int64).T - 1, labels, **extra)


def _reader(folder: Path, prefix: str) -> Callable[[str, Any], np.ndarray]:
    def read(part: str, dtype: Any) -> np.ndarray:
        return np.loadtxt(folder / f"{prefix}_{part}.txt", dtype=dtype, delimiter=",", ndmin=2)

    return read


def _single(table: np.ndarray, what: str) -> np.ndarray:
    if table.shape[1] != 1:
        raise DataError(f"one {what} a line", found=f"{table.shape[1]} columns", remedy="correct the loader")
    return table[:, 0]


def _sizes(graph: np.ndarray, graphs: int) -> np.ndarray:
    """Return int64[graphs], the number of nodes of each graph, from the graph of each node."""
    if graph.min() != 1 or graph.max() != graphs or (np.diff(graph) < 0).any():
        raise DataError(
            "nodes listed graph by graph",
            found=f"graph numbers from {graph.min():,} to {graph.max():,} for {graphs:,} graphs, not all ascending",
            allowed=f"1 to {graphs:,}, ascending",
            remedy="fetch the files again",
        )
    return np.bincount(graph - 1, minlength=graphs)
