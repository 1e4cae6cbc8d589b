"""A partition's measures as a tidy table and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedbench.partition.graphs.measures import GraphMeasures, graph_warnings
from fedbench.partition.graphs.store import GraphPartition
from fedbench.partition.page import measured, number, page

HEADER = "dataset,partition,client,member,measure,class,value"


def graph_csv_text(name: str, partition: GraphPartition, measures: GraphMeasures) -> str:
    """Return a tidy CSV: one row a client and measure; ``class`` is empty except for ``class_count``.

    Counts are whole numbers; ``label_entropy`` is in bits, ``majority_test`` a share.
    """
    rows = [f"{partition.meta['dataset']},{name},{row}" for row in _rows(partition, measures)]
    return "\n".join([HEADER, *rows]) + "\n"


def _rows(partition: GraphPartition, measures: GraphMeasures) -> Iterator[str]:
    for client, member in enumerate(partition.meta["member"]):
        for measure, values in measures.columns().items():
            yield f"{client},{member},{measure},,{number(values[client])}"
        for label in range(partition.meta["classes"][client]):
            yield f"{client},{member},class_count,{label},{measures.class_counts[client, label]}"


def graph_markdown_text(name: str, partition: GraphPartition, measures: GraphMeasures) -> str:
    """Return the report for people: totals, warnings, and a table with one row a client."""
    meta = partition.meta
    floor = 100 * measures.majority_test
    shares = [_shares(measures.class_counts[client, :classes]) for client, classes in enumerate(meta["classes"])]
    said = [
        f"{partition.graph.size:,} graphs in {partition.clients} clients. A constant answer, each client's most "
        f"frequent class in train, has {floor.mean():.2f} points on average, {floor.std():.2f} standard deviation over "
        "clients.",
        "Label entropy in bits. Majority test: the share of test graphs that the constant answer gets right. Classes: "
        "graphs of each.",
    ]
    columns = [
        ("client", [str(client) for client in range(partition.clients)]),
        ("data set", meta["member"]),
        *measured(measures.columns()),
        ("features", [str(features) for features in meta["features"]]),
        ("classes", shares),
    ]
    return page(f"{meta['dataset']}, {name}", said, graph_warnings(measures), columns)


def _shares(counts: np.ndarray) -> str:
    return " / ".join(str(count) for count in counts.tolist())
