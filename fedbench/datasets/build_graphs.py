"""Raw files to the data set of the task `graph`: load, count, make features. The raw order stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets import adjacency_lists, tu
from fedbench.datasets.counts import check_counts
from fedbench.datasets.graph import GraphDataset
from fedbench.datasets.graph_features import node_features
from fedbench.datasets.origin import origin_of, origin_path, write_origin
from fedbench.datasets.raw_graphs import RawGraphs
from fedbench.datasets.wanted import loader_of
from fedbench.sources.graph_entry import GraphFile
from fedbench.sources.kinds import Source

LOADERS: dict[str, Callable[[Path, Any], RawGraphs]] = {"tu": tu.load, "adjacency-lists": adjacency_lists.load}


def build_graphs(name: str, file: GraphFile, source: Source, raw_folder: Path, out: Path) -> GraphDataset:
    """Write the data set file ``out`` and ``<out>.origin.npz`` from checked raw files, and return the data set.

    Raises:
        DataError: the files don't fit together, or a count differs from the catalogue's.
    """
    dataset = graphs_of(name, file, source, raw_folder)
    write_origin(origin_path(out), origin_of(name, source, np.arange(dataset.nodes)))
    dataset.write(out)
    return dataset


def graphs_of(name: str, file: GraphFile, source: Source, raw_folder: Path) -> GraphDataset:
    """Return the data set of checked raw files.

    Raises:
        DataError: the files don't fit together, or a count differs from the catalogue's.
    """
    dataset = _dataset(name, file, load_raw(source, raw_folder))
    check_counts(f"the graphs {file.title}", dataset.meta, file.counts.model_dump())
    return dataset


def load_raw(source: Source, folder: Path) -> RawGraphs:
    """Return the graphs from a source's files, which have been checked.

    Raises:
        SourceError: the source names no loader of graphs.
    """
    loader = loader_of(source, LOADERS)
    return LOADERS[loader.format](folder, loader)


def _dataset(name: str, file: GraphFile, raw: RawGraphs) -> GraphDataset:
    x = node_features(raw, file.features)
    counts = {"graphs": raw.y.size, "nodes": raw.nodes, "edges": raw.edges.shape[1] // 2}
    more = {"features": x.shape[1], "classes": np.unique(raw.y).size}
    return GraphDataset(
        x_indptr=x.indptr.astype(np.int64),
        x_indices=x.indices.astype(np.int32),
        x_data=x.data,
        x_shape=np.array(x.shape, dtype=np.int64),
        edges=raw.edges,
        graph_indptr=raw.graph_indptr,
        edge_indptr=np.searchsorted(raw.edges[0], raw.graph_indptr),
        y=raw.y,
        meta={"dataset": name, "task": file.task, **counts, **more},
    )
