"""Schemes that cut user-item graphs, as typed settings. Each scheme's configuration names its origin."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from fedbench.settings import Settings


class Groups(Settings):
    """Clients in named groups by descending training pairs: the first ``sizes[0]`` are the first group, and so on.

    LPSFed's 15 clients are Large-Dense, Medium-Balanced and Small-Sparse. Their sizes (1, 4, 10) are inferred: they are
    what makes the published Overall the plain mean of all clients.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]


class RecScheme(Settings):
    """What every scheme says. Only training pairs shape a cut; the others follow."""

    task: ClassVar = "rec"
    title: str
    source: str = Field(description="where the settings come from")
    items: Literal["disjoint", "by_user"] = Field(
        description="disjoint: items are cut too, and pairs between clients dropped; by_user: users are cut, and a "
        "client has the items its users' training pairs touch"
    )
    drop_isolated: bool = Field(False, description="leave out items that keep no training pair in their client")
    groups: Groups | None = None


class CoClusterScheme(RecScheme):
    """Spectral co-clustering of users and items, K clusters."""

    scheme: Literal["co-cluster"]
    method: Literal["rownorm", "dhillon"] = Field(
        description="rownorm: K singular vectors, rows scaled to length 1; dhillon: those after the first, scaled by "
        "D^(-1/2) (Dhillon 2001)"
    )
    vectors: Literal["clusters", "log2"] = Field(
        "clusters",
        description="singular vectors: K, or 1 + log2 K rounded up (Dhillon 2001, scikit-learn's SpectralCoclustering)",
    )
    regularise: float = Field(
        ge=0, description="tau: tau times the mean degree is added to each degree (Chaudhuri et al. 2012)"
    )


class CoRandomScheme(RecScheme):
    """Users and items dealt at random, independently: what LPSFed's released cut amounts to."""

    scheme: Literal["co-random"]


class CoLouvainScheme(RecScheme):
    """Louvain's communities of the bipartite graph (Blondel et al. 2008), packed into clients of similar size."""

    scheme: Literal["co-louvain"]
    resolution: float = Field(1.0, gt=0, description="of the modularity")


CoScheme = CoClusterScheme | CoRandomScheme | CoLouvainScheme
