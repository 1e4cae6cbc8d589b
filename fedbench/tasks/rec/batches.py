"""A local epoch's batches: every client's training pairs in a random order, each with items not taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from fedbench import seeds as streams
from fedbench.configuration.protocol import TrainingSettings
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.task import Member, Step


def steps(
    block: RecBlock, training: TrainingSettings, members: Sequence[Member], round: int, epoch: int
) -> Iterator[Step]:
    """Yield the epoch's steps; a client with fewer batches than another doesn't take the later ones.

    The order is drawn per (seed, client, round, epoch), the negatives per (seed, client, round, epoch, step).
    """
    orders = [
        streams.generator("batches", *member, round, epoch).permutation(client.learnable)
        for member, client in zip(members, block.clients, strict=True)
    ]
    longest = max(len(order) for order in orders)
    size = training.batch_size or max(longest, 1)
    for number, start in enumerate(range(0, longest, size)):
        chosen = [order[start : start + size] for order in orders]
        negatives = [
            client.negatives.draw(
                client.train[0][pairs],
                training.ranking.negatives,
                streams.generator("negatives", *member, round, epoch, number),
            )
            for member, client, pairs in zip(members, block.clients, chosen, strict=True)
        ]
        takes = np.array([len(pairs) > 0 for pairs in chosen])
        yield Step(block.batch(chosen, negatives, training.ranking), None if takes.all() else torch.from_numpy(takes))
