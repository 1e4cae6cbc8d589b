"""FedAvg with local masks: FedAux's ablation without auxiliary vectors (FedAvg_mask, FedAux's table 6)."""

from __future__ import annotations

from pydantic import Field

from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell
from fedbench.models.masks import Masks
from fedbench.models.network import Network
from fedbench.settings import Settings


class MaskedFedAvgSettings(Settings):
    """Settings of FedAvg with local masks."""

    mask_threshold: float = Field(
        0.0,
        ge=0,
        description="masks below it count as zero at evaluation (FED-PUB's code: 1e-3; FedAux's: none)",
    )


class MaskedFedAvg(Method[MaskedFedAvgSettings]):
    """A masked GCN whose weights are averaged uniformly while each client keeps its masks."""

    Settings = MaskedFedAvgSettings
    source = "FedAux (NeurIPS 2025, arXiv 2505.23864), table 6, 'FedAvg_mask'"

    def network(self, cell: Cell, client: int = 0) -> Network:
        """Return the protocol's network with masks."""
        return self.protocol_network(cell, client, masks=Masks(self.settings.mask_threshold))
