"""Table specifications: which runs fill a table's cells, and which published figures stand beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from fedbench.configuration.run import RunName
from fedbench.settings import Settings, parse, read_yaml


class Row(Settings):
    """One row: a method's variant, and the name it has in the paper (None: not published)."""

    method: str
    variant: str = "default"
    published: str | None = None


class Metric(Settings):
    """How one figure is read off a seed's record."""

    name: str = Field("accuracy", description="`metric` of the record")
    split: Literal["train", "val", "test", "none"] = "test"
    select: Literal["best_validation_round", "common_best_round", "last_round"] = Field(
        "best_validation_round",
        description="round read: each seed's best by mean client validation figure (first if tied), the best of the "
        "mean over seeds, or the last",
    )
    scale: float = Field(100.0, description="factor from record to table (100: percent)")
    unit: str = "%"
    ddof: int = Field(0, ge=0, le=1, description="0: population standard deviation over seeds")
    decimals: int = 2


class Published(Settings):
    """Where the paper's figures are: rows of ``configs/published/<file>`` with this paper and table."""

    file: str
    paper: str
    table: str


class TableFile(Settings):
    """``configs/tables/<paper>-<table>.yaml``."""

    title: str
    caption: str
    kind: Literal["accuracy", "communication", "seconds"] = Field(
        "accuracy", description="accuracy: `metric` of the records; communication, seconds: costs of the headers"
    )
    measured: bool = Field(False, description="true: holds clock readings, so two runs differ")
    protocol: str
    datasets: tuple[str, ...] = Field(min_length=1)
    partitions: tuple[str, ...] = Field(min_length=1)
    metric: Metric = Metric()
    published: Published | None = None
    reproduced_within: float = Field(0.5, gt=0, description="points; inside it a cell counts as reproduced")
    rows: tuple[Row, ...] = Field(min_length=1)

    def runs(self) -> list[RunName]:
        """Return every run the table needs, in reading order."""
        return [
            RunName(protocol=self.protocol, dataset=d, partition=p, method=row.method, variant=row.variant)
            for row in self.rows
            for d in self.datasets
            for p in self.partitions
        ]


def load_table(name: str, configs: Path) -> TableFile:
    """Read ``configs/tables/<name>.yaml``."""
    path = configs / "tables" / f"{name}.yaml"
    return parse(TableFile, read_yaml(path), str(path))
