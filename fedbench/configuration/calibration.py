"""Calibrations: runs whose figures are known to be reproducible, with targets and tolerances."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from fedbench.configuration.run import RunName
from fedbench.configuration.table import Metric
from fedbench.errors import ConfigurationError, nearest
from fedbench.settings import Settings, parse, read_yaml


class Check(Settings):
    """One figure to hit."""

    name: str
    run: RunName
    metric: Metric | None = Field(None, description="how its figure is read (default: the file's `metric`)")
    target: float = Field(description="in the metric's unit")
    tolerance: float = Field(gt=0, description="largest |ours - target| that passes")
    published: float | None = Field(None, description="the paper's figure, if the target is another")
    published_std: float | None = Field(
        None, ge=0, description="its standard deviation over seeds, if the paper has it"
    )
    published_seeds: int | None = Field(None, ge=1, description="seeds that the published figure is the mean of")
    source: str = Field(description="where the target comes from")

    @model_validator(mode="after")
    def _spread_is_whole(self) -> Check:
        if (self.published_std is None) != (self.published_seeds is None):
            raise ValueError("give `published_std` and `published_seeds`, or neither")
        return self


class CalibrationFile(Settings):
    """``configs/calibrations/<name>.yaml``."""

    title: str
    suite: str = Field("calibration", description="whose seeds count, and whose tables hold the runs")
    metric: Metric = Metric()
    checks: tuple[Check, ...] = Field(min_length=1)


def load_calibrations(configs: Path) -> list[CalibrationFile]:
    """Read every file of ``configs/calibrations``, in order of name."""
    paths = sorted((configs / "calibrations").glob("*.yaml"))
    return [parse(CalibrationFile, read_yaml(path), str(path)) for path in paths]


def calibrations_of(suite: str, configs: Path) -> list[CalibrationFile]:
    """Return the calibrations of a suite.

    Raises:
        ConfigurationError: it has none.
    """
    files = load_calibrations(configs)
    chosen = [file for file in files if file.suite == suite]
    if not chosen:
        known = list(dict.fromkeys(file.suite for file in files))
        raise ConfigurationError(
            f"calibrate the suite '{suite}'",
            found=f"no calibration of it{nearest(suite, known)}",
            allowed=", ".join(known),
            remedy=f"correct the name, or add a file to {configs}/calibrations with `suite: {suite}`",
        )
    return chosen
