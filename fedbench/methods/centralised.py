"""Centralised training: one model on the whole graph, edges between clients included."""

from __future__ import annotations

from fedbench.methods.base import Method, NoSettings


class Centralised(Method[NoSettings]):
    """The protocol's backbone trained on the union of all clients' data; each client's accuracy is on its own nodes.

    Not a federated method: a bound on what sharing everything gives under the same budget of steps.
    """

    source = "control"
    pooled = True

    def shares(self, parameter: str) -> bool:
        """Share nothing: there is one client."""
        return False
