"""Loss and gradient of a network of vectors, against the formulas on vectors that a plain program made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from fedbench.configuration.protocol import RankingSettings
from fedbench.models.vectors import ITEMS, USERS
from fedbench.tasks.rec.block import RecBlock
from tests.tasks.rec.test_rec_training import a_batch


def assert_loss_and_gradient(network: Any, parameters: Mapping[str, Tensor], block: RecBlock, vectors: Tensor) -> None:
    """Compare BPR with a penalty of one client's batch; ``vectors`` [users + items, d], users first."""
    (client,) = block.clients
    batch = a_batch(block, 30, RankingSettings(l2=0.2))
    loss = batch.loss(network.forward(parameters, batch, None))[0]
    user, item = batch.user_rows[batch.user], batch.item_rows[batch.item] + client.users
    start = torch.cat([parameters[USERS][0], parameters[ITEMS][0]])
    margin = (vectors[user] * (vectors[item[:, 0]] - vectors[item[:, 1]])).sum(1)
    squares = start[torch.cat([user, item.flatten()])].square().sum() / 30
    expected = -torch.nn.functional.logsigmoid(margin).mean() + 0.1 * squares
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    found, wanted = (torch.autograd.grad(value, list(parameters.values())) for value in (loss, expected))
    for name, ours, theirs in zip(parameters, found, wanted, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5 * float(theirs.abs().max())), name
        assert theirs.abs().max() > 0
