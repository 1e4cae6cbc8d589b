"""Partition schemes: ``configs/partitions/<scheme>.yaml`` as typed settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from fedbench.settings import Settings, parse, read_yaml
from fedbench.sources.kinds import Source


class SplitSettings(Settings):
    """Shares of the nodes, drawn once for the whole graph before it is cut; the rest validates.

    FED-PUB's released code (and so FedAux's) draws 20 % train and 40 % test this way: ``papers/subgraph-fl.md``,
    section 2. FedAux's text says "within each subgraph" (difference D9); the code is followed.
    """

    train: float = Field(0.2, gt=0, lt=1, description="share of all nodes, rounded to a whole number")
    test: float = Field(0.4, gt=0, lt=1, description="share of all nodes, rounded to a whole number")

    @model_validator(mode="after")
    def _leaves_validation(self) -> SplitSettings:
        if self.train + self.test >= 1:
            raise ValueError("train + test must leave something for validation (sum below 1)")
        return self


class MetisScheme(Settings):
    """Disjoint clients: METIS, k-way (Karypis & Kumar 1998), edges between clients dropped."""

    scheme: Literal["metis"]
    title: str
    source: str = Field(description="where the settings come from")
    split: SplitSettings = SplitSettings()


class Expected(Settings):
    """What an imported table is known to give; checked on import."""

    sizes: tuple[int, ...] = Field(description="nodes of each client")
    kept_edges: int = Field(description="undirected edges with both ends in one client")


class FileScheme(Settings):
    """Disjoint clients and masks read from a table with the columns ``node,client,split``."""

    scheme: Literal["file"]
    title: str
    source: str
    dataset: str = Field(description="the only data set the table is for")
    raw_format: str = Field(description="format of the raw files whose node order the table's ids follow")
    expected: Expected
    sources: tuple[Source, ...] = Field(min_length=1, description="where the table comes from; one file each")


Scheme = MetisScheme | FileScheme


class _SchemeFile(Settings):
    """A scheme's file, read by its ``scheme``."""

    content: Annotated[Scheme, Field(discriminator="scheme")]


def load_scheme(name: str, configs: Path) -> Scheme:
    """Read ``configs/partitions/<name>.yaml``.

    Raises:
        ConfigurationError: no such scheme (names the nearest), or the file breaks its model.
    """
    path = configs / "partitions" / f"{name}.yaml"
    return parse(_SchemeFile, {"content": read_yaml(path)}, str(path)).content
