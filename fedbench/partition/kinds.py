"""Kinds of scheme: how a data set is cut into clients and split, as typed settings."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from fedbench.settings import Settings
from fedbench.sources.kinds import Source


class SplitSettings(Settings):
    """Shares of the nodes; the rest validates.

    FED-PUB's released code (and so FedAux's) draws 20 % train and 40 % test once for the whole graph, before it is cut.
    FedAux's text says "within each subgraph": scope ``client``.
    """

    train: float = Field(0.2, gt=0, lt=1, description="share of the nodes, rounded to a whole number")
    test: float = Field(0.4, gt=0, lt=1, description="share of the nodes, rounded to a whole number")
    scope: Literal["global", "client"] = Field(
        "global",
        description="one draw over the whole graph, or one a client; left out of a partition file where global, as in "
        "files made before there was a choice",
        exclude_if=lambda scope: scope == "global",
    )

    @model_validator(mode="after")
    def _leaves_validation(self) -> SplitSettings:
        if self.train + self.test >= 1:
            raise ValueError("train + test must leave something for validation (sum below 1)")
        return self


class DrawnScheme(Settings):
    """What every scheme says that draws its clients, edges between clients being dropped."""

    task: ClassVar = "node"
    title: str
    source: str = Field(description="where the settings come from")
    split: SplitSettings = SplitSettings()


class MetisScheme(DrawnScheme):
    """Disjoint clients: METIS, k-way (Karypis & Kumar 1998)."""

    scheme: Literal["metis"]


class OverlappingScheme(DrawnScheme):
    """Overlapping clients: METIS parts, and several draws of each part's nodes."""

    scheme: Literal["overlapping"]
    draws: int = Field(5, ge=1, description="clients of one METIS part (FED-PUB's n_clien_per_comm)")
    share: float = Field(0.5, gt=0, lt=1, description="share of the part's nodes in one draw, rounded down")

    @model_validator(mode="after")
    def _one_role(self) -> OverlappingScheme:
        if self.split.scope != "global":
            raise ValueError("split.scope must be global, or a node could train in one client and test in another")
        return self


class LouvainScheme(DrawnScheme):
    """Disjoint clients: communities packed into owners, as FedSage does."""

    scheme: Literal["louvain"]
    resolution: float = Field(1.0, gt=0, description="of Louvain's modularity (python-louvain's default)")
    delta: int = Field(
        20, ge=2, description="a community is cut to N / owners - delta; N / owners + delta caps an owner"
    )
    per_class: int = Field(2, ge=0, description="nodes of every class that each owner has at least")


class DirichletScheme(DrawnScheme):
    """Disjoint clients: each class spread over the clients by shares from a Dirichlet distribution."""

    scheme: Literal["dirichlet"]
    alpha: float = Field(0.5, gt=0, description="concentration; small: few classes a client, large: even")
    smallest: int = Field(10, ge=1, description="nodes each client has at least; drawn again until it is so")


class RandomScheme(DrawnScheme):
    """Disjoint clients of equal size whose nodes are drawn at random, whatever the graph and the classes."""

    scheme: Literal["random"]


class Expected(Settings):
    """What an imported table is known to give; checked on import."""

    sizes: tuple[int, ...] = Field(description="nodes of each client")
    kept_edges: int = Field(description="undirected edges with both ends in one client")


class FileScheme(Settings):
    """Disjoint clients and masks read from a table with the columns ``node,client,split``."""

    task: ClassVar = "node"
    scheme: Literal["file"]
    title: str
    source: str
    dataset: str = Field(description="the only data set the table is for")
    raw_format: str = Field(description="format of the raw files whose node order the table's ids follow")
    expected: Expected
    sources: tuple[Source, ...] = Field(min_length=1, description="where the table comes from; one file each")


NodeScheme = MetisScheme | OverlappingScheme | LouvainScheme | DirichletScheme | RandomScheme | FileScheme
