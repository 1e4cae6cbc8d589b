"""What a table of kind `clients` or `fairness` adds to a row: how the figure was read, and what weights did."""

from __future__ import annotations

from typing import Any

from fedbench.configuration.table import TableFile
from fedbench.stats.cells import Cell
from fedbench.stats.clients import departure
from fedbench.stats.measures import OVER_CLIENTS
from fedbench.tables.csv_row import rounded


def beside_clients(table: TableFile, cell: Cell) -> dict[str, Any]:
    """Return the further columns of a cell; nothing for a cell without records or a table of another kind.

    Raises:
        RecordError: weights can't be read off its records.
    """
    if table.kind not in OVER_CLIENTS or not cell.entries:
        return {}
    how = table.metric.over_clients
    return {"over_rounds": table.metric.last, "mode": how.mode, "ddof": how.ddof, **_weights(table, cell)}


def _weights(table: TableFile, cell: Cell) -> dict[str, Any]:
    found = departure(cell.records, table.weights) if table.weights else None
    if found is None:
        return {}
    departed = "yes" if found.departed else "no"
    return {"weights_departed": departed, "weights_low": rounded(found.low), "weights_high": rounded(found.high)}


def over_clients_notes(table: TableFile) -> list[str]:
    """Return what the figures are, and what the lines below them say."""
    how, last = table.metric.over_clients, table.metric.last
    divisor = "K - 1" if how.ddof else "K"
    notes = [f"{MODES[how.mode].format(last=last)} Deviations over K clients divide by {divisor}."]
    if table.floor_row:
        notes.append("The last row is a floor that learns nothing; it is not ranked.")
    if table.weights:
        notes.append(
            f"w departed from uniform: whether any client's `{table.weights}` ever was another than 1 / K, and its "
            "smallest and largest value over rounds, clients and seeds as multiples of 1 / K."
        )
    return notes


MODES = {
    "per_round": "Each figure is taken over the clients of every round and averaged over the last {last} rounds; "
    "mean and standard deviation of that over seeds.",
    "of_means": "Each figure is taken once, over the clients' means over the last {last} rounds and all seeds; "
    "it has no spread over seeds.",
}
