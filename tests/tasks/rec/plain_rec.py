"""Parts of plain programs of recommendation: dense matrices, batches, BPR pair by pair, rows of items."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fedbench import seeds
from fedbench.configuration.protocol import TrainingSettings
from fedbench.tasks.rec.arrays import ClientPairs


def dense_adjacency(client: ClientPairs) -> Tensor:
    """Return D^(-1/2) A D^(-1/2) of users and items together."""
    whole = torch.zeros(client.users + client.items, client.users + client.items, dtype=torch.float64)
    for user, item in client.train.T.tolist():
        whole[user, client.users + item] = whole[client.users + item, user] = 1.0
    root = whole.sum(1).clip(1) ** -0.5
    return root[:, None] * whole * root


def lightgcn(p: dict[str, Tensor], adjacency: Tensor, layers: int) -> Tensor:
    e = total = torch.cat([p["user.weight"], p["item.weight"]])
    for _ in range(layers):
        e = adjacency @ e
        total = total + e
    return total / (layers + 1)


def ngcf(p: dict[str, Tensor], adjacency: Tensor, layers: int) -> Tensor:
    e = torch.cat([p["user.weight"], p["item.weight"]])
    found = [e]
    for layer in range(1, layers + 1):
        near = adjacency @ e
        both = (near + e) @ p[f"layer{layer}.first.weight"] + (near * e) @ p[f"layer{layer}.second.weight"]
        e = nn.functional.leaky_relu(both, 0.2)
        found.append(nn.functional.normalize(e))
    return torch.cat(found, dim=1)


def pairs_of(client: ClientPairs, training: TrainingSettings, member: tuple[int, int], round: int, epoch: int) -> Any:
    """Yield the epoch's batches: users, and for each the item taken and those not taken."""
    order = seeds.generator("batches", *member, round, epoch).permutation(client.train.shape[1])
    size = training.batch_size or len(order)
    free = {u: [i for i in range(client.items) if not client.taken[u, i]] for u in range(client.users)}
    for number, start in enumerate(range(0, len(order), size)):
        users, taken = client.train[:, order[start : start + size]]
        left = np.array([[len(free[u])] for u in users])
        random = seeds.generator("negatives", *member, round, epoch, number)
        rank = random.integers(0, left, (len(users), training.ranking.negatives))
        yield users, taken, np.array([[free[u][r] for r in row] for u, row in zip(users, rank, strict=True)])


def bpr(final: Tensor, start: Tensor, batch: Any, client: ClientPairs, training: TrainingSettings) -> Tensor:
    users, taken, negatives = batch
    total = torch.zeros((), dtype=torch.float64)
    for user, item, others in zip(users, taken, negatives, strict=True):
        rows = [client.users + j for j in (item, *others)]
        for other in rows[1:]:
            margin = final[user] @ (final[rows[0]] - final[other])
            total = total - nn.functional.logsigmoid(margin) / len(others)
        total = total + 0.5 * training.ranking.l2 * start[[user, *rows]].square().sum()
    return total / len(users)


def start_items(models: list[dict[str, Tensor]], ids: list[list[int]], training: TrainingSettings, seed: int) -> None:
    """Start an item alike in all clients: its row of a table of all items."""
    deviation, width = training.model.embedding.deviation, training.model.width
    every = max(max(own) for own in ids) + 1
    table = deviation * seeds.generator("weights", seed, "item.weight").standard_normal((every, width))
    for model, own in zip(models, ids, strict=True):
        for row, item in enumerate(own):
            model["item.weight"].data[row] = torch.from_numpy(table[item])


def average_items(models: list[dict[str, Tensor]], ids: list[list[int]]) -> None:
    """Set an item's row to its mean over the clients that have it."""
    for item in {item for own in ids for item in own}:
        holders = [
            (model["item.weight"], own.index(item)) for model, own in zip(models, ids, strict=True) if item in own
        ]
        mean = sum(table.detach()[row] for table, row in holders) / len(holders)
        for table, row in holders:
            table.data[row] = mean
