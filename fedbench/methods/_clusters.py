"""Clusters of clients: when they split, and what the server remembers of them for a seed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from pydantic import Field

from fedbench.methods.weights import Weighing
from fedbench.settings import Settings


class ClusterSettings(Settings):
    """When clusters split, and how their members are weighed."""

    eps1: float = Field(
        0.05,
        gt=0,
        description="a cluster splits only if the norm of its mean update is below; the released script's default for "
        "one data set cut into clients (its script for several data sets: 0.01; no published value for nodes)",
    )
    eps2: float = Field(
        0.1,
        ge=0,
        description="... and only if a member's update is longer than this (default of both released scripts)",
    )
    relative: bool = Field(
        False,
        description="eps1 and eps2 are fractions of the longest mean update of a cluster so far. Inferred: the paper "
        "chooses absolute values for each group of data sets from about 50 rounds of an offline run",
    )
    burn_in: int = Field(20, ge=0, description="rounds without a split (released code; the paper has none)")
    weights: Weighing = Field(
        "uniform",
        description="client weights within a cluster: uniform as in this suite's other rows; released code and paper "
        "weigh by training samples (train_nodes). The mean in the split criterion is unweighted in the released code",
    )


@dataclass
class SeedClusters:
    """The server's state for one seed.

    Args:
        clusters: members in rising order, ordered by their first member.
        longest: norm of the longest mean update of a cluster so far.
        norms: ||Delta_k|| of this round, [K].
        mean_norms: norm of the mean update of client k's cluster in this round, [K].
        series: a figure a client, [K], for every round since the last split; GCFL+ only.
    """

    clusters: list[list[int]]
    longest: float = 0.0
    norms: np.ndarray = field(default_factory=lambda: np.zeros(0))
    mean_norms: np.ndarray = field(default_factory=lambda: np.zeros(0))
    series: list[np.ndarray] = field(default_factory=list)

    def observe(self, products: np.ndarray) -> None:
        """Note the norms of a round from the inner products of its updates, [K, K]."""
        self.norms, self.mean_norms = np.sqrt(products.diagonal()), np.zeros(len(products))
        for cluster in self.clusters:
            square = products[np.ix_(cluster, cluster)].mean()  # ||mean||^2; rounding may leave it below 0
            self.mean_norms[cluster] = np.sqrt(max(float(square), 0.0))
        self.longest = max(self.longest, float(self.mean_norms.max()))

    @property
    def labels(self) -> np.ndarray:
        """Each client's cluster, named by its first member, int64[K]."""
        names = np.zeros(sum(map(len, self.clusters)), dtype=np.int64)
        for cluster in self.clusters:
            names[cluster] = cluster[0]
        return names


@dataclass(frozen=True)
class ClusterMemory:
    """One state a seed, so that a seed's clusters don't depend on the block it is in."""

    seeds: list[SeedClusters]
