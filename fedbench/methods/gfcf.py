"""GF-CF on every client's own graph: a strong control that trains nothing and sends nothing."""

from __future__ import annotations

from pydantic import Field

from fedbench.methods._untrained import Untrained
from fedbench.methods.exchange import Cell
from fedbench.models.gfcf import GraphFilter
from fedbench.models.network import Network
from fedbench.settings import Settings


class GFCFSettings(Settings):
    """Settings of GF-CF; defaults are those of its released code for Gowalla and Yelp2018."""

    vectors: int = Field(256, ge=0, description="singular vectors of the ideal filter; 0: the linear one alone")
    alpha: float = Field(0.3, ge=0, description="weight of the ideal filter")


class GFCF(Untrained[GFCFSettings]):
    """Each client filters its users' training pairs on its own items' graph."""

    Settings = GFCFSettings
    source = "Shen et al., How powerful is graph convolution for recommendation?, CIKM 2021"

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the filter."""
        network: Network = GraphFilter(self.settings.vectors, self.settings.alpha)  # type: ignore[assignment]
        return network
