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


class NgcfFiles(Settings):
    """A line a user, ``user item item ...``; train and test given (NGCF, Wang 2019; LightGCN, He 2020)."""

    format: Literal["ngcf"]
    train: str
    test: str
    archive: str = Field("", description="tar or zip that holds both; empty: plain or gzipped (.gz) files")


class TableFiles(Settings):
    """A line a pair, in separated columns (MovieLens, LastFM, RecBole's ``.inter``). Ids are whole numbers."""

    format: Literal["table"]
    train: tuple[str, ...] = Field(min_length=1, description="files whose pairs are not test pairs, one after another")
    test: tuple[str, ...] = Field((), description="files of the given test pairs; none: no split is given")
    archive: str = Field("", description="tar or zip that holds them; empty: plain or gzipped (.gz) files")
    separator: str = "\t"
    header: int = Field(0, ge=0, description="lines to skip at the head of each file")
    user: int = Field(0, ge=0, description="column of the user's id")
    item: int = Field(1, ge=0, description="column of the item's id")


NodeLoader = PlanetoidFiles | LinqsFiles | GnnBenchmarkFile | HeterophilousFile | FilmFiles | OgbFile
GraphLoader = TuFiles | AdjacencyListFile
RecLoader = NgcfFiles | TableFiles
Loader = Annotated[NodeLoader | GraphLoader | RecLoader, Field(discriminator="format")]
