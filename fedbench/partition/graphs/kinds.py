"""How data sets of graphs are dealt to clients and split, as typed settings."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from fedbench.settings import Settings


class GraphSplit(Settings):
    """Two draws in each client, both stratified by class: train and rest, then the rest into validation and test.

    GCFL, FedStar and FedSSP alike: scikit-learn's ``train_test_split`` with the random state 123 in every repetition.
    A partition of seed s has the random state 123 + s: the seedless name is the published split, and others measure
    what the choice of a split does.
    """

    rest: float = Field(0.2, gt=0, lt=1, description="share that doesn't train, rounded up")
    test: float = Field(0.5, gt=0, lt=1, description="share of the rest that tests, rounded up")
    seed: int = Field(123, ge=0, description="random state of a partition of seed 0")


class GraphScheme(Settings):
    """Every data set's graphs to as many clients as every other's: K clients of M data sets, K / M each.

    With K = M one data set is one client; with M = 1 one data set is spread over all clients.
    """

    task: ClassVar = "graph"
    scheme: Literal["graphs"]
    title: str
    source: str = Field(description="where the settings come from")
    deal: Literal["chunks", "random"] = Field(
        description="where a data set has several clients. chunks: to each the next 50 graphs of the raw order (or n / "
        "clients, if fewer), every other graph to a client at random; random: all at random, sizes differing by one"
    )
    chunk: int = Field(50, ge=1, description="graphs in a row that a client gets, for chunks")
    split: GraphSplit = GraphSplit()
