"""FedSage+: FedSage on graphs whose missing neighbours a federated generator made up (Zhang et al., NeurIPS 2021).

Before round 1 clients train NeighGen together (section 4; `fedbench.neighgen`) and mend their graphs with what it
generates; then they train GraphSAGE classifiers on the mended graphs, averaged as in FedSage. ``federated: false`` and
``share: false`` make LocSage+: each client mends and trains alone.
"""

from __future__ import annotations

from pydantic import Field

from fedbench.configuration.protocol import TrainingSettings
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Preparation, Traffic
from fedbench.methods.fedsage import FedSage, require_sage
from fedbench.neighgen.mend import Mended, mend
from fedbench.neighgen.settings import NeighGenSettings
from fedbench.settings import Settings
from fedbench.tasks.node.arrays import NodeProblem


class FedSagePlusSettings(Settings):
    """Settings of FedSage+."""

    neighgen: NeighGenSettings = Field(NeighGenSettings(), description="the generator of missing neighbours")
    share: bool = Field(True, description="classifiers are averaged; false: LocSage+, each client keeps its own")


class FedSagePlus(Method[FedSagePlusSettings]):
    """GraphSAGE on mended graphs, averaged uniformly."""

    Settings = FedSagePlusSettings
    source = FedSage.source

    def __init__(self, settings: FedSagePlusSettings, training: TrainingSettings) -> None:
        super().__init__(settings, training)
        require_sage(training, "FedSage+")

    def prepare(self, problem: NodeProblem, cell: Cell) -> Preparation:
        """Train the generator and mend every client's graph, for each seed."""
        mended = [self._mended(problem, cell, seed) for seed in cell.seeds]
        up, down = sum(m.bytes_up for m in mended), sum(m.bytes_down for m in mended)
        traffic = Traffic(up // len(mended), down // len(mended))  # a seed's share, as everywhere in the ledger
        return Preparation([m.graphs for m in mended], traffic, [m.diagnostics for m in mended])

    def _mended(self, problem: NodeProblem, cell: Cell, seed: int) -> Mended:
        own = self.settings.neighgen
        return mend(problem.client_data, problem.width, problem.classes, own, seed, cell.dtype, cell.device)

    def shares(self, parameter: str) -> bool:
        """Share everything, or nothing if so set."""
        return self.settings.share and super().shares(parameter)
