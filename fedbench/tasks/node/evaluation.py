"""Accuracy of every client's model, on its own nodes or on the whole graph; and how well its members can be told."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.models.network import Network
from fedbench.models.parameters import Parameters
from fedbench.tasks.node.block import EVALUATED_SPLITS, NodeBlock
from fedbench.tasks.node.membership import attack_auc
from fedbench.tasks.task import Figures


@dataclass(frozen=True)
class OnClients:
    """Each client on its own nodes; the attack's AUC, at the end, is that against its own model."""

    def figures(self, network: Network, effective: Parameters, block: NodeBlock, last: bool) -> Figures:
        """Return accuracies, and the AUC in the last round."""
        logits = network.forward(effective, block, None)
        found: Figures = {("accuracy", split): values for split, values in block.accuracy(logits).items()}
        return found | ({("attack_auc", "none"): attack_auc(block, logits)} if last else {})


@dataclass(frozen=True)
class OnWholeGraph:
    """Each client's model on all clients' nodes in the whole graph ``whole``, edges between clients included."""

    whole: NodeBlock

    def figures(self, network: Network, effective: Parameters, block: NodeBlock, last: bool) -> Figures:
        """Return accuracies, one client after another."""
        places = range(len(next(iter(effective.values()), ())))
        found = [self._accuracy(network, {n: stack[k : k + 1] for n, stack in effective.items()}) for k in places]
        return {("accuracy", split): torch.stack([each[split] for each in found]) for split in EVALUATED_SPLITS}

    def _accuracy(self, network: Network, own: Parameters) -> dict[str, Tensor]:
        """Return one model's share of right answers over all nodes of each split."""
        counts = {split: self.whole.members[split].counts for split in EVALUATED_SPLITS}
        logits = network.forward(own, self.whole, None)
        return {
            split: torch.nansum(accuracy * counts[split]) / counts[split].sum()
            for split, accuracy in self.whole.accuracy(logits).items()
        }
