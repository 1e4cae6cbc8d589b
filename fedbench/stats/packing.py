"""Pack what a suite's tables and figures read into a compact bundle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedbench.configuration.suite import Suite
from fedbench.configuration.table import TableFile
from fedbench.records.pack import Records, write_bundle
from fedbench.stats.cells import cells_of, require_complete, table_named

# What the notes below tables of recommendation say (`fedbench.tables.ranking_notes`), and what counts local steps
# (`fedbench.figures._steps`).
NOTED = {*((name, "test") for name in ("candidates", "pairs", "pairs_outside")), ("local_epochs", "none")}


def pack_suite(
    suite: Suite, configs: Path, records: Records, out: Path, also: Sequence[str] = (), partial: bool = False
) -> int:
    """Write the records of all tables of a suite as a bundle and return their number.

    Raises:
        RecordError: records are missing (unless ``partial``), damaged or invalid.
    """
    tables = {name: table_named(name, suite, configs, also) for name in suite.tables}
    cells = [cell for name, table in tables.items() for cell in cells_of(table, suite.blocks_of(name), records)]
    if not partial:
        require_complete(cells, f"pack the suite '{suite.title}'", "run `snakemake` for this suite, or `--partial`")
    entries = {entry.name: entry for cell in cells for entry in cell.all_entries}
    write_bundle(entries.values(), rows_read(list(tables.values())), out)
    return len(entries)


def rows_read(tables: Sequence[TableFile]) -> set[tuple[str, str]]:
    """Return the (metric, split) pairs that tables and their figures read.

    Each metric's own split, and what chooses the round on val; diagnostics belong to no split.
    """
    metrics = [metric for table in tables if table.kind != "noniid" for metric in table.metrics]
    weights = [table.weights for table in tables if table.weights]
    diagnostics = {(name, "none") for name in (*weights, *(name for table in tables for name in table.diagnostics))}
    own = {(metric.name, split) for metric in metrics for split in (metric.split, "val")}
    choosing = {(metric.chosen_by, "val") for metric in metrics if metric.chosen_by}
    return own | choosing | diagnostics | NOTED
