"""Build one table of a suite from records and write its three forms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from fedbench.configuration.suite import Suite
from fedbench.configuration.table import Row, TableFile
from fedbench.files import write_text
from fedbench.records.check import Present
from fedbench.records.pack import Records
from fedbench.stats.cells import Cell, cells_of, require_complete, table_named
from fedbench.stats.labels import label
from fedbench.stats.published import load_names, load_published
from fedbench.tables.beside import printed_blocks
from fedbench.tables.chosen_rounds import round_notes
from fedbench.tables.notes import notes
from fedbench.tables.ranking_notes import ranking_notes
from fedbench.tables.render import Page, render
from fedbench.tables.suite_note import suite_notes
from fedbench.tables.tidy import Sources, csv_text, tidy


def build_table(
    name: str,
    table: TableFile,
    cells: Sequence[Cell],
    configs: Path,
    present: Present,
    results: Path = Path("results"),
    about: Sequence[str] = (),
) -> dict[str, str]:
    """Return the table's texts by file suffix: ``csv`` (tidy), ``tex`` and ``md`` (laid out like the paper).

    ``about``: sentences that come first below the printed forms.

    Raises:
        RecordError: a figure can't be read off its records.
        ConfigurationError: the published figures can't be read, or a row names a method that they haven't.
        DataError: a partition or data set file that the table reads is missing or damaged.
    """
    published = load_published(table.published, configs)
    published.require(row.published for row in table.rows)
    frame = tidy(table, Sources(cells, published, present, results))
    page = _page(name, table, frame, cells, configs, about)
    return {"csv": csv_text(frame), "tex": render(page, "tex"), "md": render(page, "md")}


def write_table(
    name: str,
    suite: Suite,
    configs: Path,
    records: Records,
    present: Present,
    out: Path,
    also: Sequence[str] = (),
    partial: bool = False,
    remedy: str = "",
    results: Path = Path("results"),
) -> list[Path]:
    """Build a table and write ``<out>/<name>.csv``, ``.tex`` and ``.md``; the same records give the same bytes.

    Args:
        name: table of the suite.
        suite: gives data sets, partitions and seed blocks.
        configs: configuration folder.
        records: a folder of runs or a bundle.
        present: digests as they are now, for the column ``stale``.
        out: folder for the files.
        also: methods to append as rows.
        partial: print missing cells as ``not run`` instead of failing.
        remedy: the command that makes missing records, for the message.
        results: the folder with ``datasets`` and ``partitions``, for tables that describe partitions.

    Raises:
        RecordError: records are missing (unless ``partial``), damaged or invalid.
        ConfigurationError: a name or file of the configuration is wrong.
    """
    table = table_named(name, suite, configs, also)
    cells = cells_of(table, suite.blocks_of(name), records)
    if not partial:
        require_complete(cells, f"build the table '{name}'", remedy)
    texts = build_table(name, table, cells, configs, present, results, suite_notes(name, suite, configs))
    paths = {out / f"{name}.{suffix}": text for suffix, text in texts.items()}
    for path, text in paths.items():
        write_text(path, text)
    return list(paths)


def _page(
    name: str, table: TableFile, frame: pd.DataFrame, cells: Sequence[Cell], configs: Path, about: Sequence[str]
) -> Page:
    labels, datasets = _labels(table, cells, configs), load_names(configs).datasets
    return Page(
        name=name,
        title=table.title,
        caption=table.caption.strip(),
        blocks=printed_blocks(table, frame, labels, datasets),
        notes=[
            *about,
            *notes(table, frame, labels, configs),
            *round_notes(table, cells, labels),
            *ranking_notes(cells, labels, configs),
        ],
        rows_are="Reading" if table.kind == "noniid" else "Method",
    )


def _labels(table: TableFile, cells: Sequence[Cell], configs: Path) -> dict[Row, str]:
    """Return row names: a reading's label, or a method's."""
    if table.kind == "noniid":
        return {row: reading.label for row, reading in zip(table.printed_rows, table.readings, strict=True)}
    return {row: label(row, cells, configs) for row in dict.fromkeys(cell.row for cell in cells)}
