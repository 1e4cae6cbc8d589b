"""Sentences below tables of recommendation: what a ranking leaves out, and which methods send nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fedbench.configuration.table import Row
from fedbench.partition.name import parse_name
from fedbench.partition.scheme import load_scheme
from fedbench.stats.cells import Cell
from fedbench.stats.curve import has_figure, values_by_client
from fedbench.tables.places import where
from fedbench.tables.tidy import Column

SIZES = ("candidates", "pairs", "pairs_outside")
"""Figures of the split test that records of recommendation have of the last round (`fedbench.tasks.rec.breakdown`)."""


def ranking_notes(cells: Sequence[Cell], labels: Mapping[Row, str], configs: Path) -> list[str]:
    """Return the sentences; none for tables of other tasks.

    Raises:
        RecordError: a seed is in two records of a run.
        ConfigurationError: a partition's scheme has no file.
    """
    ranked = [cell for cell in cells if cell.entries and cell.records[0].header.task == "rec"]
    return [*_left_out(ranked, configs), *_silent(ranked, labels), *_without_items(ranked, labels)]


def _left_out(cells: Sequence[Cell], configs: Path) -> list[str]:
    """Say by column which share of test pairs lies outside its client, and how many candidates the clients have."""
    measured: dict[Column, Cell] = {}
    for cell in cells:
        if has_figure(cell.records, "pairs_outside", "test"):
            measured.setdefault((cell.run.dataset, cell.run.partition), cell)
    settings = {name: _items(name, configs) for _, name in measured}
    texts = [
        f"{dataset}, {name} (items {settings[name]}): {_sizes(cell)}" for (dataset, name), cell in measured.items()
    ]
    meaning = "Share of test pairs whose item isn't in the user's client (left out, but for figures of all items), "
    return [f"{meaning}and candidates a client: {'; '.join(texts)}."] if texts else []


def _items(partition: str, configs: Path) -> str:
    """Return a partition's item setting: disjoint or by_user."""
    return str(getattr(load_scheme(parse_name(partition).scheme, configs), "items", "of another task"))


def _sizes(cell: Cell) -> str:
    candidates, inside, outside = (values_by_client(cell.records, name, "test")[1][-1] for name in SIZES)
    share = 100 * outside.sum() / max(inside.sum() + outside.sum(), 1)
    low, high = f"{candidates.min():,.0f}", f"{candidates.max():,.0f}"
    return f"{share:.1f} %, {low if low == high else f'{low} to {high}'}"


def _silent(cells: Sequence[Cell], labels: Mapping[Row, str]) -> list[str]:
    """Name the rows whose records state that no byte was sent."""
    silent = [(cell, _sent(cell) == 0) for cell in cells]
    found = [text for row, label in labels.items() if (text := where(row, label, silent))]
    if not found:
        return []
    return [
        f"Nothing is sent (0 bytes in the records): {'; '.join(found)}. What would share vectors of items, and is "
        "among these, finds no item in two clients and trains every client alone; what is centralised has all data "
        "in one place."
    ]


def _without_items(cells: Sequence[Cell], labels: Mapping[Row, str]) -> list[str]:
    """Name the rows that share vectors of items, but whose records state that no item lies in several clients."""
    alone = [(cell, bool(_sent(cell)) and bool(_instead(cell))) for cell in cells]
    said = {cell.row: _instead(cell) for cell, holds in alone if holds}
    named = [(where(row, labels[row], alone), what) for row, what in said.items() if row in labels]
    if not named:
        return []
    texts = "; ".join(f"{name}: {what}" for name, what in named)
    return [f"No item lies in several clients, so no vector of an item is shared. What is sent instead by {texts}."]


def _instead(cell: Cell) -> str:
    """Return what a record says is exchanged where no item is in several clients; "" if some are, or it says nothing.

    Methods say so before round 1 (`fedbench.methods._item_tables.shared_items`).
    """
    for record in cell.records:
        for known in record.header.diagnostics.values():
            stated = known.get("preparation", {}) if isinstance(known, dict) else {}
            if stated.get("items_in_several_clients") == 0:
                return str(stated.get("exchanged", ""))
    return ""


def _sent(cell: Cell) -> int | None:
    """Return the bytes sent in all records of a cell; None where they state no costs."""
    costs = [cost for record in cell.records for cost in record.header.costs]
    return sum(cost.bytes_up + cost.bytes_down for cost in costs) if costs else None
