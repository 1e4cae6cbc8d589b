"""Majority class: what a client scores without learning anything."""

from __future__ import annotations

from fedbench.methods.base import Method, NoSettings
from fedbench.methods.exchange import Cell
from fedbench.models.majority import MajorityClass, MajorityOfGraphs
from fedbench.models.network import Network

NETWORKS: dict[str, type[MajorityClass]] = {"node": MajorityClass, "graph": MajorityOfGraphs}


class Majority(Method[NoSettings]):
    """Answers with the most frequent class among the client's training nodes or graphs: the floor of every table."""

    source = "control"

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the constant predictor."""
        return NETWORKS[self.training.task]()
