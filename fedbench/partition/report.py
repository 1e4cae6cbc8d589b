"""A partition's measures as a tidy table and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedbench.datasets.node import NodeDataset
from fedbench.partition.measures import ClientMeasures, warnings
from fedbench.partition.page import measured, number, page
from fedbench.partition.store import Partition

HEADER = "dataset,partition,client,measure,class,value"


def csv_text(name: str, partition: Partition, measures: ClientMeasures) -> str:
    """Return a tidy CSV: one row a client and measure; ``class`` is empty except for ``class_count``.

    Counts are whole numbers; ``label_entropy`` is in bits, ``label_distance`` (total variation) has no unit.
    """
    rows = [f"{partition.meta['dataset']},{name},{row}" for row in _rows(measures)]
    return "\n".join([HEADER, *rows]) + "\n"


def _rows(measures: ClientMeasures) -> Iterator[str]:
    for client in range(measures.nodes.size):
        for measure, values in measures.columns().items():
            yield f"{client},{measure},,{number(values[client])}"
        for label, count in enumerate(measures.class_counts[client]):
            yield f"{client},class_count,{label},{count}"


def markdown_text(name: str, partition: Partition, dataset: NodeDataset, measures: ClientMeasures) -> str:
    """Return the report for people: totals, warnings, and a table with one row a client."""
    kept, cut = partition.meta["kept_edges"], partition.meta["cut_edges"]
    share = cut / (kept + cut) if kept + cut else 0.0
    counts = [(f"class {label}", [str(n) for n in measures.class_counts[:, label]]) for label in range(dataset.classes)]
    said = [
        f"{_held(partition, dataset.nodes)}; {kept:,} edges kept, {cut:,} cut ({share:.1%}).",
        "Missing links: cut edges with one end in the client. Label entropy in bits. Label distance: total variation "
        "between the client's class shares and the overall ones (0 same, 1 disjoint).",
    ]
    columns = [
        ("client", [str(client) for client in range(measures.nodes.size)]),
        *measured(measures.columns()),
        *counts,
    ]
    return page(f"{dataset.name}, {name}", said, warnings(measures), columns)


def _held(partition: Partition, nodes: int) -> str:
    """Return who has how many nodes; overlapping clients have some several times and others never."""
    held, memberships = np.unique(partition.node).size, partition.node.size
    if held == memberships == nodes:
        return f"{nodes:,} nodes in {partition.clients} clients"
    return f"{held:,} of {nodes:,} nodes in {partition.clients} clients, {memberships:,} memberships"
