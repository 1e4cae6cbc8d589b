"""What a record is called, and where it lies: the one place that spells it (besides the rule `train`)."""

from __future__ import annotations

from fedbench.configuration.run import RunName


def record_name(run: RunName, block: str) -> str:
    """Return the name of one block of seeds of a run: its path below ``results/records`` without a suffix."""
    return str(run.folder / f"seeds-{block}")
