"""`fedbench train` as a user's job runs it: a process of its own, from files to a run record."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.graphs import Problem
from benchmarks.measure import Usage, run_process
from benchmarks.place import ROOT

PROTOCOL = "benchmark"


@dataclass(frozen=True)
class TrainingJob:
    """One cell: a method with its settings on a problem; ``folder`` takes its configuration and records."""

    problem: Problem
    method: str
    folder: Path
    settings: dict[str, Any]
    training: dict[str, Any]

    @property
    def record(self) -> Path:
        return self.folder / "record.parquet"

    def write_configuration(self) -> None:
        """Write the protocol and the method file that the job reads."""
        protocol = {"title": "benchmark", "source": "benchmarks/", "training": self.training}
        method = {"label": self.method, "variants": {"default": {"method": self.settings}}}
        for file, values in ((f"protocols/{PROTOCOL}.yaml", protocol), (f"methods/{self.method}.yaml", method)):
            path = self.folder / "configs" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(values), encoding="utf-8")

    def arguments(self, seeds: str) -> list[str]:
        """Return the words after `fedbench`."""
        options = {
            "protocol": PROTOCOL,
            "dataset": self.problem.dataset.stem,
            "partition": "file",
            "seeds": seeds,
            "dataset-file": self.problem.dataset,
            "partition-file": self.problem.partition,
            "out": self.record,
            "configs": self.folder / "configs",
        }
        return ["train", self.method, *(str(word) for key, value in options.items() for word in (f"--{key}", value))]

    def run(self, seeds: str, python_options: Sequence[str] = ("-m", "fedbench.cli")) -> Usage:
        """Train a block of seeds and return what the process cost."""
        self.write_configuration()
        return run_process([sys.executable, *python_options, *self.arguments(seeds)], {"PYTHONPATH": str(ROOT)})

    def header(self) -> dict[str, Any]:
        """Return the header of the last record."""
        return dict(json.loads(self.record.with_suffix(".json").read_text(encoding="utf-8")))
