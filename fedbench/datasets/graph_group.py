"""Several data sets of graphs as one, and each of them out of it again. Light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedbench.datasets.graph import GraphDataset

COUNTS = ("graphs", "nodes", "edges", "features", "classes")


def joined(name: str, parts: Sequence[GraphDataset]) -> GraphDataset:
    """Return the group ``name`` of data sets, one after another.

    Members number their features and classes from 0, each its own. So the group's numbers of features and classes are
    the largest of any member's, and ``meta["members"]`` has each one's.
    """
    nodes, edges = _starts([part.nodes for part in parts]), _starts([part.edges.shape[1] for part in parts])
    entries = _starts([part.x_data.size for part in parts])
    members = [{"dataset": part.name, **_counts(part)} for part in parts]
    total = {count: sum(member[count] for member in members) for count in COUNTS[:3]}
    largest = {count: max(member[count] for member in members) for count in COUNTS[3:]}
    return GraphDataset(
        x_indptr=_run_on([part.x_indptr for part in parts], entries),
        x_indices=np.concatenate([part.x_indices for part in parts]),
        x_data=np.concatenate([part.x_data for part in parts]),
        x_shape=np.array([total["nodes"], largest["features"]], dtype=np.int64),
        edges=np.concatenate([part.edges + start for part, start in zip(parts, nodes, strict=False)], axis=1),
        graph_indptr=_run_on([part.graph_indptr for part in parts], nodes),
        edge_indptr=_run_on([part.edge_indptr for part in parts], edges),
        y=np.concatenate([part.y for part in parts]),
        meta={"dataset": name, "task": "graph", **total, **largest, "members": members},
    )


def members_of(dataset: GraphDataset) -> list[dict[str, Any]]:
    """Return each member's dataset, graphs, nodes, edges, features and classes; a single data set is its own member."""
    return list(dataset.meta.get("members", [{"dataset": dataset.name, **_counts(dataset)}]))


def member_of_each(dataset: GraphDataset) -> np.ndarray:
    """Return int64[G], the number of the member that each graph belongs to."""
    members = members_of(dataset)
    return np.repeat(np.arange(len(members)), [member["graphs"] for member in members])


def member(dataset: GraphDataset, number: int) -> GraphDataset:
    """Return one member as the data set it is alone: its own nodes, features and classes."""
    members = members_of(dataset)
    first, last = _starts([each["graphs"] for each in members])[[number, number + 1]]
    nodes = slice(*dataset.graph_indptr[[first, last]])
    edges = slice(*dataset.edge_indptr[[first, last]])
    entries = slice(*dataset.x_indptr[[nodes.start, nodes.stop]])
    counts = members[number]
    return GraphDataset(
        x_indptr=dataset.x_indptr[nodes.start : nodes.stop + 1] - entries.start,
        x_indices=dataset.x_indices[entries],
        x_data=dataset.x_data[entries],
        x_shape=np.array([counts["nodes"], counts["features"]], dtype=np.int64),
        edges=dataset.edges[:, edges] - nodes.start,
        graph_indptr=dataset.graph_indptr[first : last + 1] - nodes.start,
        edge_indptr=dataset.edge_indptr[first : last + 1] - edges.start,
        y=dataset.y[first:last],
        meta={"task": "graph", **counts},
    )


def _counts(dataset: GraphDataset) -> dict[str, Any]:
    return {count: dataset.meta[count] for count in COUNTS}


def _starts(sizes: Sequence[int]) -> np.ndarray:
    """Return int64[k + 1], where each of k parts starts, and the end."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))])


def _run_on(pointers: Sequence[np.ndarray], starts: np.ndarray) -> np.ndarray:
    """Return the parts' pointers as those of the whole."""
    moved = [pointer[:-1] + start for pointer, start in zip(pointers, starts, strict=False)]
    return np.concatenate([*moved, starts[-1:]])
