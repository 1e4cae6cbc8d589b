"""What a user asked the workflow for: the keys of ``snakemake --config``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from fedbench.settings import Settings, parse


class Selection(Settings):
    """Keys of ``--config``; lists may be given as ``also=centroid,fedavg/rounds-200``."""

    suite: str = Field("paper", description="file name under configs/suites")
    also: tuple[str, ...] = Field((), description="methods (`name` or `name/variant`) to append to every table")
    rules: tuple[Path, ...] = Field((), description="rule files of methods outside the package, named <method>.smk")
    device: Literal["cpu", "cuda"] = "cpu"
    bundle: Path | None = Field(
        None,
        description="records packed by `fedbench pack`, such as reports/paper/records: what the present settings and "
        "code would make as it is there isn't trained again",
    )
    configs: Path = Field(Path("configs"), description="folder of the configuration files")
    pathvars: dict[str, str] = Field({}, description="Snakemake's own key: where results, reports and logs go")

    @field_validator("also", "rules", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return [part for part in value.split(",") if part] if isinstance(value, str) else value


def selected(config: Mapping[str, Any]) -> Selection:
    """Return what ``snakemake --config`` asks for.

    Raises:
        ConfigurationError: an unknown key (names the nearest one) or value.
    """
    return parse(Selection, config, "--config")
