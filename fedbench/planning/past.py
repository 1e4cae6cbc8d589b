"""What past runs cost, read from the headers of their records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fedbench.errors import ConfigurationError
from fedbench.records.pack import HEADERS
from fedbench.records.schema import RunHeader
from fedbench.settings import Settings, parse


class PastRun(Settings):
    """One record's cost, per seed and per local epoch, and what it is comparable by."""

    task: str
    method: str
    variant: str
    dataset: str
    clients: int
    seconds_per_epoch: float
    startup_seconds: float


def work_of(training: dict[str, Any]) -> int:
    """Return a schedule's local epochs over all rounds, the measure by which costs are scaled."""
    return int(training["rounds"]) * int(training.get("local_epochs", 1))


def past_runs(folders: Iterable[Path]) -> list[PastRun]:
    """Return the costs of the records under ``folders``; damaged headers and free-form settings are left out."""
    return [past for folder in folders for header in _headers(folder) for past in _past(header)]


def _headers(folder: Path) -> Iterator[RunHeader]:
    for where, text in _texts(folder):
        try:
            values = json.loads(text)
            yield parse(RunHeader, values.get("header", values), where)
        except (ConfigurationError, ValueError, TypeError, AttributeError):
            continue


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every header below a folder, from files of their own and from bundles (`fedbench pack`)."""
    for path in sorted(folder.rglob("seeds-*.json")):
        yield str(path), path.read_text(encoding="utf-8")
    for path in sorted(folder.rglob(HEADERS)):
        yield from ((str(path), line) for line in path.read_text(encoding="utf-8").splitlines())


def _past(header: RunHeader) -> Iterator[PastRun]:
    training = header.settings.get("training")
    if header.costs and isinstance(training, dict) and "rounds" in training:
        total = sum(cost.total_seconds for cost in header.costs)
        yield PastRun(
            **header.model_dump(include={"task", "method", "variant", "dataset", "clients", "startup_seconds"}),
            seconds_per_epoch=total / len(header.costs) / work_of(training),
        )
