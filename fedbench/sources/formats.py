"""Formats of raw files: what a source's loader is told about them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fedbench.settings import Settings


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


class OgbFile(Settings):
    """One zip of the Open Graph Benchmark (Hu et al. 2020) with ``<folder>/raw/edge.csv.gz`` and so on."""

    format: Literal["ogb"]
    file: str
    folder: str


class TuFiles(Settings):
    """``<prefix>_{A,graph_indicator,graph_labels}.txt`` of TUDataset (Morris et al. 2020), and what nodes have."""

    format: Literal["tu"]
    prefix: str
    nodes: Literal["labels", "attributes"] | None = Field(
        None, description="read <prefix>_node_labels.txt or <prefix>_node_attributes.txt; None: neither"
    )


class AdjacencyListFile(Settings):
    """One text of DGCNN (Zhang et al. 2018): a line a node, its tag, degree and neighbours; the tags are not read."""

    format: Literal["adjacency-lists"]
    file: str


NodeLoader = PlanetoidFiles | LinqsFiles | GnnBenchmarkFile | HeterophilousFile | FilmFiles | OgbFile
GraphLoader = TuFiles | AdjacencyListFile
Loader = Annotated[NodeLoader | GraphLoader, Field(discriminator="format")]
