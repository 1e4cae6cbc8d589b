"""The catalogue: what each data set is, where its raw files come from, and what they must hold."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from fedbench.settings import Settings, parse, read_yaml
from fedbench.sources.kinds import Source


class RawCounts(Settings):
    """The whole graph, self-loops and duplicates dropped; ``edges`` counts undirected edges."""

    nodes: int
    edges: int
    features: int
    classes: int


class PreparedCounts(Settings):
    """The graph the experiments use; ``edges`` counts undirected edges."""

    nodes: int
    edges: int


class Prepare(Settings):
    """What is done to the raw graph."""

    largest_component: bool = True
    row_normalise: bool = True


class DatasetFile(Settings):
    """``configs/datasets/<name>.yaml``."""

    title: str
    task: Literal["node"]
    citation: str
    licence: str
    raw: RawCounts
    component: PreparedCounts
    prepare: Prepare = Prepare()
    sources: tuple[Source, ...] = Field(min_length=1, description="tried in this order")


class SubsetFile(Settings):
    """``configs/datasets/<name>.yaml`` of a small, connected piece of another data set."""

    title: str
    subset_of: str
    nodes: int = Field(ge=2, description="size of the breadth-first ball")
    edges: int = Field(description="undirected edges inside it")


class Entry(Settings):
    """A catalogue entry: a data set, or a subset with the data set it is cut from."""

    name: str
    dataset: DatasetFile
    subset: SubsetFile | None = None

    @property
    def title(self) -> str:
        """Return the name used in tables."""
        return (self.subset or self.dataset).title


def load_entry(name: str, configs: Path) -> Entry:
    """Read ``configs/datasets/<name>.yaml`` and, for a subset, its parent's file.

    Raises:
        ConfigurationError: no such data set (names the nearest), or the file breaks its model.
    """
    path = configs / "datasets" / f"{name}.yaml"
    values = read_yaml(path)
    if "subset_of" not in values:
        return Entry(name=name, dataset=parse(DatasetFile, values, str(path)))
    subset = parse(SubsetFile, values, str(path))
    return Entry(name=name, dataset=load_entry(subset.subset_of, configs).dataset, subset=subset)
