"""Popularity: what a client scores without looking at a user."""

from __future__ import annotations

from fedbench.methods._untrained import Untrained
from fedbench.methods.base import NoSettings
from fedbench.methods.exchange import Cell
from fedbench.models.network import Network
from fedbench.models.popularity import Popularity as Ranking


class Popularity(Untrained[NoSettings]):
    """Recommends the client's items of most training pairs: the floor of every recommendation table."""

    source = "control"

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the constant ranking."""
        network: Network = Ranking()  # type: ignore[assignment]
        return network
