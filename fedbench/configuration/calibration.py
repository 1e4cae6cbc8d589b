"""Calibrations: runs whose figures are known to be reproducible, with targets and tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from fedbench.configuration.run import RunName
from fedbench.configuration.table import Metric
from fedbench.settings import Settings, parse, read_yaml


class Check(Settings):
    """One figure to hit."""

    name: str
    run: RunName
    target: float = Field(description="in the metric's unit")
    tolerance: float = Field(gt=0, description="largest |ours - target| that passes")
    published: float | None = Field(None, description="the paper's figure, if the target is another")
    source: str = Field(description="where the target comes from")


class CalibrationFile(Settings):
    """``configs/calibrations/<name>.yaml``."""

    title: str
    suite: str = Field("calibration", description="the suite that trains the runs, and whose seeds count")
    metric: Metric = Metric()
    checks: tuple[Check, ...] = Field(min_length=1)


def load_calibrations(configs: Path, names: Sequence[str] = ()) -> list[CalibrationFile]:
    """Read every file of ``configs/calibrations``, in order of name, or the named ones."""
    folder = configs / "calibrations"
    paths = [folder / f"{name}.yaml" for name in names] or sorted(folder.glob("*.yaml"))
    return [parse(CalibrationFile, read_yaml(path), str(path)) for path in paths]
