"""A partition's measures as a tidy table and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedbench.partition.graphs.measures import GraphMeasures, graph_warnings
from fedbench.partition.graphs.store import GraphPartition

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
            yield f"{client},{member},{measure},,{_number(values[client])}"
        for label in range(partition.meta["classes"][client]):
            yield f"{client},{member},class_count,{label},{measures.class_counts[client, label]}"


def graph_markdown_text(name: str, partition: GraphPartition, measures: GraphMeasures) -> str:
    """Return the report for people: totals, warnings, and a table with one row a client."""
    meta, columns = partition.meta, measures.columns()
    floor = 100 * measures.majority_test
    heads = ["client", "data set", *(column.replace("_", " ") for column in columns), "features", "classes"]
    cells = [
        [str(client) for client in range(partition.clients)],
        meta["member"],
        *([_number(value) for value in values] for values in columns.values()),
        [str(features) for features in meta["features"]],
        [_shares(measures.class_counts[client, :classes]) for client, classes in enumerate(meta["classes"])],
    ]
    lines = [
        f"# {meta['dataset']}, {name}",
        "",
        f"{partition.graph.size:,} graphs in {partition.clients} clients. A constant answer, each client's most "
        f"frequent class in train, has {floor.mean():.2f} points on average, {floor.std():.2f} standard deviation over "
        "clients.",
        "Label entropy in bits. Majority test: the share of test graphs that the constant answer gets right. Classes: "
        "graphs of each.",
        "",
        *(f"- Warning: {text}." for text in graph_warnings(measures)),
        "",
        _row(heads),
        _row(["---:"] * len(heads)),
        *(_row(list(row)) for row in zip(*cells, strict=True)),
    ]
    return "\n".join(lines) + "\n"


def _shares(counts: np.ndarray) -> str:
    return " / ".join(str(count) for count in counts.tolist())


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: np.generic) -> str:
    return f"{value:.4f}" if isinstance(value, np.floating) else str(value)
