"""A partition's measures as a tidy table and as Markdown."""

from __future__ import annotations

import numpy as np

from fedbench.partition.page import measured, number, page
from fedbench.partition.rec.measures import RecMeasures, rec_warnings
from fedbench.partition.rec.store import RecPartition

HEADER = "dataset,partition,client,group,measure,value"
FORM = ".6g"  # densities are small


def rec_csv_text(name: str, partition: RecPartition, measures: RecMeasures) -> str:
    """Return a tidy CSV, one row a client and measure.

    Counts are whole numbers; ``density`` is a share, ``item_degree`` in pairs an item.
    """
    rows = [
        f"{partition.meta['dataset']},{name},{client},{group},{measure},{number(values[client], FORM)}"
        for client, group in enumerate(_groups(partition))
        for measure, values in measures.columns().items()
    ]
    return "\n".join([HEADER, *rows]) + "\n"


def rec_markdown_text(name: str, partition: RecPartition, measures: RecMeasures) -> str:
    """Return the report for people: totals, warnings, and a table with one row a client."""
    meta = partition.meta
    kept, cut = meta["kept_edges"], meta["cut_edges"]
    said = [
        f"{partition.user.size:,} users in {partition.clients} clients, items {meta['settings']['items']}: "
        f"{np.unique(partition.item).size:,} items in clients, {meta['shared_items']:,} of them in several; "
        f"{kept:,} training pairs kept, {cut:,} cut ({cut / max(kept + cut, 1):.1%}); "
        f"{meta['test_outside']:.1%} of the test pairs and {meta['val_outside']:.1%} of the validation pairs outside.",
        "Outside: the user's client hasn't the item. Lone: without a training pair inside. Density: training pairs "
        "over users times items.",
    ]
    columns = [
        ("client", [str(client) for client in range(partition.clients)]),
        ("group", _groups(partition)),
        *measured(measures.columns(), FORM),
    ]
    return page(f"{meta['dataset']}, {name}", said, rec_warnings(measures), columns)


def _groups(partition: RecPartition) -> list[str]:
    return partition.meta["group"] or [""] * partition.clients
