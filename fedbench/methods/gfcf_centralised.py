"""GF-CF on the whole graph: the bound that goes with `fedbench.methods.gfcf`."""

from __future__ import annotations

from fedbench.methods._untrained import Untrained
from fedbench.methods.exchange import Cell
from fedbench.methods.gfcf import GFCFSettings
from fedbench.models.gfcf import GraphFilter
from fedbench.models.network import Network


class GFCFCentralised(Untrained[GFCFSettings]):
    """The filter of all clients' pairs together; every client's users are ranked among that client's items."""

    Settings = GFCFSettings
    source = "control; filter of Shen et al., CIKM 2021"
    pooled = True

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the filter."""
        network: Network = GraphFilter(self.settings.vectors, self.settings.alpha)  # type: ignore[assignment]
        return network
