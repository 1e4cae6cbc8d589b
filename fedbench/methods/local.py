"""Local: every client trains alone."""

from __future__ import annotations

from fedbench.methods.base import Method, NoSettings


class Local(Method[NoSettings]):
    """No exchange at all; all clients start from the same initial weights."""

    source = "control; 'Local' in FED-PUB (ICML 2023) and FedAux (NeurIPS 2025)"

    def shares(self, parameter: str) -> bool:
        """Share nothing."""
        return False
