"""Catalogue entries of the task `node`: one graph, its nodes to be classified."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fedbench.settings import Settings
from fedbench.sources.kinds import Source
from fedbench.sources.size import graph_size


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


class NodeFile(Settings):
    """``configs/datasets/<name>.yaml`` with ``task: node``."""

    title: str
    task: Literal["node"]
    citation: str
    licence: str
    raw: RawCounts
    component: PreparedCounts
    prepare: Prepare = Prepare()
    sources: tuple[Source, ...] = Field(min_length=1, description="tried in this order")

    @property
    def size(self) -> float:
        """Return the size of the graph that is used."""
        return graph_size(self.component.nodes, self.component.edges)


class PreparedFile(Settings):
    """``configs/datasets/<name>.yaml`` of another data set's graph, prepared in another way."""

    title: str
    prepared_from: str
    why: str = Field(description="what for")
    row_normalise: bool


class SubsetFile(Settings):
    """``configs/datasets/<name>.yaml`` of a small, connected piece of another data set."""

    title: str
    subset_of: str
    nodes: int = Field(ge=2, description="size of the breadth-first ball")
    edges: int = Field(description="undirected edges inside it")

    @property
    def size(self) -> float:
        """Return the size of the piece."""
        return graph_size(self.nodes, self.edges)
