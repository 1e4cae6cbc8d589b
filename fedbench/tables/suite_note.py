"""What a suite changes in a table, in a sentence below it: captions are written for the table as its paper has it."""

from __future__ import annotations

from pathlib import Path

from fedbench.configuration.suite import Suite
from fedbench.configuration.table import load_table


def suite_notes(name: str, suite: Suite, configs: Path) -> list[str]:
    """Return a sentence if the suite takes another protocol, or leaves out data sets or partitions of the table."""
    own, choice = load_table(name, configs), suite.tables[name]
    changed = [f"protocol {choice.protocol}"] if choice.protocol not in (None, own.protocol) else []
    for what, before, chosen in (
        ("data sets", own.datasets, choice.datasets),
        ("partitions", own.partitions, choice.partitions),
    ):
        if chosen is not None and not set(before) <= set(chosen):
            changed.append(f"{what} {', '.join(chosen)}")
    if not changed:
        return []
    return [
        f"As the suite '{suite.title}' builds it: {'; '.join(changed)}. Where the caption says otherwise, this counts."
    ]
