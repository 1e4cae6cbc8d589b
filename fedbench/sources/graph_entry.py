"""Catalogue entries of the task `graph`: many small graphs, each to be classified."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fedbench.settings import Settings
from fedbench.sources.kinds import Source
from fedbench.sources.size import graph_size


class GraphCounts(Settings):
    """All graphs together, self-loops and duplicates dropped; ``edges`` counts undirected edges."""

    graphs: int
    nodes: int
    edges: int
    features: int
    classes: int


class LabelFeatures(Settings):
    """One-hot node labels, a column for every number from the smallest label to the largest."""

    kind: Literal["labels"]


class AttributeFeatures(Settings):
    """The nodes' continuous attributes as they are."""

    kind: Literal["attributes"]


class DegreeFeatures(Settings):
    """One-hot degrees in place of any other feature, a column for every degree from 0 to ``largest``."""

    kind: Literal["degree"]
    largest: int = Field(ge=1, description="no node may have a larger degree")


GraphFeatures = Annotated[LabelFeatures | AttributeFeatures | DegreeFeatures, Field(discriminator="kind")]


class GraphFile(Settings):
    """``configs/datasets/<name>.yaml`` with ``task: graph``."""

    title: str
    task: Literal["graph"]
    citation: str
    licence: str
    counts: GraphCounts
    features: GraphFeatures
    sources: tuple[Source, ...] = Field(min_length=1, description="tried in this order")

    @property
    def size(self) -> float:
        """Return the size of all graphs."""
        return graph_size(self.counts.nodes, self.counts.edges)
