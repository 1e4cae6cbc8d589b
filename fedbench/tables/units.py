"""How each figure is printed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from fedbench.configuration.table import TableFile

MEGA, KILO = 1e-6, 1e-3


@dataclass(frozen=True)
class Unit:
    """Heading of the figure's panel, factor from CSV to print, decimals, whether spread, ranking and sign are shown.

    ``better``: which end of the ranking is best; None: the metric's.
    """

    heading: str
    scale: float
    decimals: int
    spread: bool = True
    ranked: bool = False
    signed: bool = False
    better: Literal["higher", "lower"] | None = None

    def text(self, value: float) -> str:
        """Return a figure as printed."""
        scaled = value * self.scale
        if 0 < scaled < 0.5 * 10**-self.decimals and not self.signed:
            return f"< {10**-self.decimals:.{self.decimals}f}"
        return f"{scaled:{'+' if self.signed else ''},.{self.decimals}f}"

    def unsigned(self, value: float) -> str:
        """Return a figure that has no sign, such as a deviation."""
        return f"{value * self.scale:,.{self.decimals}f}"


COSTS = {
    "bytes_up_per_round": Unit("Upload, MB a round, all clients", MEGA, 2, spread=False),
    "bytes_down_per_round": Unit("Download, MB a round, all clients", MEGA, 2, spread=False),
    "bytes_total": Unit("Upload and download, MB in all rounds", MEGA, 1, spread=False),
    "parameters": Unit("Trainable parameters of one client, thousands", KILO, 1, spread=False),
    "training_seconds": Unit("Training, CPU seconds a seed", 1, 2),
    "evaluation_seconds": Unit("Evaluation, CPU seconds a seed", 1, 2),
    "total_seconds": Unit("Total, CPU seconds a seed", 1, 2),
    "training_ms_per_round": Unit("Training, CPU ms a round", 1, 1),
    "evaluation_ms_per_round": Unit("Evaluation, CPU ms a round", 1, 1),
    "times_baseline": Unit("Training, times the baseline's", 1, 2, spread=False),
    "times_baseline_with_evaluation": Unit("Training and evaluation, times the baseline's", 1, 2, spread=False),
    "peak_memory_mb": Unit("Peak memory of the job, MB", 1, 0, spread=False),
}
OVER_CLIENTS = {
    "average": Unit("AVG: mean over clients, {unit}", 1, 2, ranked=True),
    "deviation": Unit("STD: standard deviation over clients, {step}", 1, 2, ranked=True, better="lower"),
    "worst": Unit("Worst client, {unit}", 1, 2, ranked=True),
    "jain": Unit("Jain's index over clients (1: all alike)", 1, 4, ranked=True, better="higher"),
}


def unit_of(metric: str, table: TableFile) -> Unit:
    """Return how a figure of a table is printed; the table's own metric has no panel heading."""
    kinds = {
        "paired": Unit("", 1, table.metric.decimals, signed=True),
        "noniid": Unit("", 1, table.metric.decimals, spread=False),
    }
    if metric in OVER_CLIENTS:
        unit = OVER_CLIENTS[metric]
        return replace(unit, heading=unit.heading.format(unit=table.metric.unit, step=table.metric.step))
    return COSTS.get(metric) or kinds.get(table.kind) or Unit("", 1, table.metric.decimals, ranked=True)
