"""Raw files to a data set file: check, load, put in order, prepare."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets import film, gnn_benchmark, heterophilous, linqs, planetoid
from fedbench.datasets.canonical import content_order
from fedbench.datasets.counts import check_counts
from fedbench.datasets.node import NodeDataset, write_dataset
from fedbench.datasets.origin import Origin, origin_path, write_origin
from fedbench.datasets.prepare import ball, largest_component, row_normalised
from fedbench.datasets.raw import RawNodes, reordered
from fedbench.errors import SourceError
from fedbench.sources.catalogue import Entry
from fedbench.sources.check import check
from fedbench.sources.kinds import Source
from fedbench.sources.note import NOTE, read_note

LOADERS: dict[str, Callable[[Path, Any], RawNodes]] = {
    "planetoid": planetoid.load,
    "linqs": linqs.load,
    "gnn-benchmark": gnn_benchmark.load,
    "heterophilous": heterophilous.load,
    "film": film.load,
}


def build_dataset(entry: Entry, raw_folder: Path, out: Path) -> NodeDataset:
    """Write the data set file ``out`` and ``<out>.origin.npz`` from a folder of raw files, and return the data set.

    Raises:
        SourceError: the folder's files are not those of a source of the catalogue.
        DataError: a count differs from the catalogue's.
    """
    source = source_of(entry, raw_folder)
    raw = load_raw(source, raw_folder)
    check_counts(f"the whole graph {entry.dataset.title}", raw, entry.dataset.raw.model_dump())
    order = content_order(raw)
    whole = reordered(raw, order)
    chosen = _chosen(entry, whole)
    dataset = _dataset(entry, reordered(whole, chosen), chosen)
    meta = {"dataset": entry.name, "source": source.name, "format": source.loader.format if source.loader else ""}
    files = {file.name: file.sha256 for file in source.files}
    write_origin(origin_path(out), Origin(order[chosen], {**meta, "files": files}))
    write_dataset(out, dataset)
    return dataset


def source_of(entry: Entry, raw_folder: Path) -> Source:
    """Return the catalogue's source that filled ``raw_folder``, after checking every file's sha256 once more.

    Raises:
        SourceError: the source is not in the catalogue (any more), or a file differs.
    """
    name = read_note(raw_folder).get("source")
    known = {source.name: source for source in entry.dataset.sources}
    if name not in known:
        raise SourceError(
            f"the source of {raw_folder}",
            found=f"{NOTE} says '{name}'",
            allowed=", ".join(known),
            remedy="run `fedbench fetch` again",
        )
    for file in known[name].files:
        check(raw_folder / file.name, file)
    return known[name]


def load_raw(source: Source, folder: Path) -> RawNodes:
    """Return the whole graph from a source's files, which have been checked."""
    if source.loader is None:
        raise SourceError(f"load {folder}", found=f"source '{source.name}' names no loader", remedy="add it")
    return LOADERS[source.loader.format](folder, source.loader)


def _chosen(entry: Entry, whole: RawNodes) -> np.ndarray:
    """Return int64[m], the nodes that stay, ascending."""
    everything = np.arange(whole.y.size)
    chosen = largest_component(whole) if entry.dataset.prepare.largest_component else everything
    part = reordered(whole, chosen)
    check_counts(f"the graph {entry.dataset.title}", part, entry.dataset.component.model_dump())
    return chosen[ball(part, entry.subset.nodes)] if entry.subset else chosen


def _dataset(entry: Entry, part: RawNodes, node_id: np.ndarray) -> NodeDataset:
    if entry.subset:
        check_counts(f"the subset {entry.title}", part, {"nodes": entry.subset.nodes, "edges": entry.subset.edges})
    x = row_normalised(part.x) if entry.dataset.prepare.row_normalise else part.x
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
        meta={"dataset": entry.name, "task": entry.dataset.task, **counts, "classes": entry.dataset.raw.classes},
    )
