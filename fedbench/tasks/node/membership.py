"""Membership inference: can an attacker tell a client's training nodes from its test nodes by the model's loss?

The attack ranks nodes by their cross-entropy, which training lowers (Yeom et al., CSF 2018). Its AUC is the chance
that a training node has a lower loss than a test node; 0.5 is guessing.
"""

from __future__ import annotations

import torch
from torch import Tensor

from fedbench.tasks.node.block import NodeBlock


def attack_auc(block: NodeBlock, logits: Tensor) -> Tensor:
    """Return the attack's AUC for each evaluated client, float64 [groups]; NaN where a split has no node.

    Args:
        block: the packed clients.
        logits: [clients, slots, classes], from the models under attack.
    """
    losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), block.labels, reduction="none")
    inside, outside = block.members["train"], block.members["test"]
    areas = [
        _area(losses[inside.slots[inside.group == group]], losses[outside.slots[outside.group == group]])
        for group in range(len(inside.counts))
    ]
    return torch.stack(areas)


def _area(members: Tensor, others: Tensor) -> Tensor:
    """Return P(member < other) + P(member = other) / 2."""
    ordered = others.sort().values
    above = len(others) - torch.searchsorted(ordered, members, right=True)
    equal = torch.searchsorted(ordered, members, right=True) - torch.searchsorted(ordered, members)
    return (above + 0.5 * equal).double().mean() / len(others)
