"""Raw files to the data set of the task `node`: load, put in order, prepare."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets import film, gnn_benchmark, heterophilous, linqs, ogb_files, planetoid
from fedbench.datasets.canonical import content_order
from fedbench.datasets.counts import check_counts, node_counts
from fedbench.datasets.node import NodeDataset
from fedbench.datasets.origin import origin_of, origin_path, write_origin
from fedbench.datasets.prepare import ball, largest_component, row_normalised
from fedbench.datasets.raw import RawNodes, reordered
from fedbench.datasets.wanted import loader_of
from fedbench.sources.kinds import Source
from fedbench.sources.node_entry import NodeFile, SubsetFile

LOADERS: dict[str, Callable[[Path, Any], RawNodes]] = {
    "planetoid": planetoid.load,
    "linqs": linqs.load,
    "gnn-benchmark": gnn_benchmark.load,
    "heterophilous": heterophilous.load,
    "film": film.load,
    "ogb": ogb_files.load,
}


def build_nodes(
    name: str, file: NodeFile, subset: SubsetFile | None, source: Source, raw_folder: Path, out: Path
) -> NodeDataset:
    """Write the data set file ``out`` and ``<out>.origin.npz`` from checked raw files, and return the data set.

    Raises:
        DataError: the files don't fit together, or a count differs from the catalogue's.
    """
    raw = load_raw(source, raw_folder)
    check_counts(f"the whole graph {file.title}", node_counts(raw), file.raw.model_dump())
    order = content_order(raw)
    whole = reordered(raw, order)
    chosen = _chosen(file, subset, whole)
    dataset = _dataset(name, file, subset, reordered(whole, chosen), chosen)
    write_origin(origin_path(out), origin_of(name, source, order[chosen]))
    dataset.write(out)
    return dataset


def load_raw(source: Source, folder: Path) -> RawNodes:
    """Return the whole graph from a source's files, which have been checked.

    Raises:
        SourceError: the source names no loader of one graph.
    """
    loader = loader_of(source, LOADERS)
    return LOADERS[loader.format](folder, loader)


def _chosen(file: NodeFile, subset: SubsetFile | None, whole: RawNodes) -> np.ndarray:
    """Return int64[m], the nodes that stay, ascending."""
    everything = np.arange(whole.y.size)
    chosen = largest_component(whole) if file.prepare.largest_component else everything
    part = reordered(whole, chosen)
    check_counts(f"the graph {file.title}", node_counts(part), file.component.model_dump())
    return chosen[ball(part, subset.nodes)] if subset else chosen


def _dataset(name: str, file: NodeFile, subset: SubsetFile | None, part: RawNodes, node_id: np.ndarray) -> NodeDataset:
    if subset:
        expected = {"nodes": subset.nodes, "edges": subset.edges}
        check_counts(f"the subset {subset.title}", node_counts(part), expected)
    x = row_normalised(part.x) if file.prepare.row_normalise else part.x
    nodes, features = x.shape
    counts = {"nodes": nodes, "edges": part.edges.shape[1] // 2, "features": features}
    return NodeDataset(
        x_indptr=x.indptr.astype(np.int64),
        x_indices=x.indices.astype(np.int32),
        x_data=x.data,
        x_shape=np.array(x.shape, dtype=np.int64),
        edges=part.edges,
        y=part.y,
        node_id=node_id.astype(np.int64),
        meta={"dataset": name, "task": file.task, **counts, "classes": file.raw.classes},
    )
