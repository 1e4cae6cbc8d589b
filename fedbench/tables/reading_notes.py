"""Which reading of `xi = JSD + MMD` comes closest to the published figures."""

from __future__ import annotations

import pandas as pd

from fedbench.configuration.table import TableFile


def distances(table: TableFile, frame: pd.DataFrame) -> dict[str, float]:
    """Return each reading's mean absolute difference from the published figures, closest first, by label."""
    labels = {reading.name: reading.label for reading in table.readings}
    known = frame.dropna(subset=["difference"])
    means = known.groupby("method")["difference"].apply(lambda values: float(values.abs().mean()))
    return {labels[str(name)]: float(value) for name, value in means.sort_values(kind="stable").items()}


def reading_notes(table: TableFile, frame: pd.DataFrame) -> list[str]:
    """Return the sentence that orders the readings."""
    found = distances(table, frame)
    if not found:
        return []
    listed = "; ".join(f"{label} {value:.{table.metric.decimals}f}" for label, value in found.items())
    return [f"Mean absolute difference from the published figures, closest reading first: {listed}."]
