"""FedSage: GraphSAGE models, everything averaged."""

from __future__ import annotations

from tests.reference.methods.fedavg import plan

__all__ = ["plan"]
