"""The spread over partitions: the same run on partitions made with other seeds."""

from __future__ import annotations

import numpy as np

from fedbench.configuration.table import Metric
from fedbench.stats.cells import Cell
from fedbench.stats.measures import selected_values
from fedbench.stats.summary import Summary, summarise


def over_partitions(cell: Cell, metric: Metric, run_seeds: int) -> Summary | None:
    """Return mean and spread over partitions in the table's unit; None if no partition has a record.

    A partition's value is the mean over run seeds below ``run_seeds``, the same ones for each, so that the spread is
    not that of cells averaged over different numbers of seeds. Partitions without such a record are left out.

    Raises:
        RecordError: a figure can't be read off its records.
    """
    found = {place: _value(part, metric, run_seeds) for place, part in enumerate(cell.partitions)}
    known = {place: value for place, value in found.items() if value is not None}
    return summarise(known, metric.ddof) if known else None


def _value(cell: Cell, metric: Metric, run_seeds: int) -> float | None:
    values = selected_values(cell.records, metric) if cell.entries else {}
    kept = [value for seed, value in sorted(values.items()) if seed < run_seeds]
    return float(np.mean(kept)) if kept else None
