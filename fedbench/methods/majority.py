"""Majority class: what a client scores without learning anything."""

from __future__ import annotations

from fedbench.methods.base import Method, NoSettings
from fedbench.methods.exchange import Cell
from fedbench.models.majority import MajorityClass
from fedbench.models.network import Network


class Majority(Method[NoSettings]):
    """Answers with the most frequent class among the client's training nodes: the floor of every table."""

    source = "control"

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the constant predictor."""
        return MajorityClass()
