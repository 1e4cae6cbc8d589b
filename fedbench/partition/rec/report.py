"""A partition's measures as a tidy table and as Markdown."""

from __future__ import annotations

import numpy as np

from fedbench.partition.rec.measures import RecMeasures, rec_warnings
from fedbench.partition.rec.store import RecPartition

HEADER = "dataset,partition,client,group,measure,value"


def rec_csv_text(name: str, partition: RecPartition, measures: RecMeasures) -> str:
    """Return a tidy CSV, one row a client and measure.

    Counts are whole numbers; ``density`` is a share, ``item_degree`` in pairs an item.
    """
    rows = [
        f"{partition.meta['dataset']},{name},{client},{group},{measure},{_number(values[client])}"
        for client, group in enumerate(_groups(partition))
        for measure, values in measures.columns().items()
    ]
    return "\n".join([HEADER, *rows]) + "\n"


def rec_markdown_text(name: str, partition: RecPartition, measures: RecMeasures) -> str:
    """Return the report for people: totals, warnings, and a table with one row a client."""
    meta, columns = partition.meta, measures.columns()
    kept, cut = meta["kept_edges"], meta["cut_edges"]
    heads = ["client", "group", *(column.replace("_", " ") for column in columns)]
    cells = [list(map(str, range(partition.clients))), _groups(partition), *map(_texts, columns.values())]
    lines = [
        f"# {meta['dataset']}, {name}",
        "",
        f"{partition.user.size:,} users in {partition.clients} clients, items {meta['settings']['items']}: "
        f"{np.unique(partition.item).size:,} items in clients, {meta['shared_items']:,} of them in several; "
        f"{kept:,} training pairs kept, {cut:,} cut ({cut / max(kept + cut, 1):.1%}); "
        f"{meta['test_outside']:.1%} of the test pairs and {meta['val_outside']:.1%} of the validation pairs outside.",
        "Outside: the user's client hasn't the item. Lone: without a training pair inside. Density: training pairs "
        "over users times items.",
        "",
        *(f"- Warning: {text}." for text in rec_warnings(measures)),
        "",
        _row(heads),
        _row(["---:"] * len(heads)),
        *(_row(list(row)) for row in zip(*cells, strict=True)),
    ]
    return "\n".join(lines) + "\n"


def _groups(partition: RecPartition) -> list[str]:
    return partition.meta["group"] or [""] * partition.clients


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _texts(values: np.ndarray) -> list[str]:
    return [_number(value) for value in values]


def _number(value: np.generic) -> str:
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)
