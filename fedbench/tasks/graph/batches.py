"""A local epoch's batches: every client's training graphs in a random order, cut into batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from fedbench import seeds as streams
from fedbench.configuration.protocol import TrainingSettings
from fedbench.tasks.graph.block import GraphBlock
from fedbench.tasks.task import Member, Step


def steps(
    block: GraphBlock, training: TrainingSettings, members: Sequence[Member], round: int, epoch: int
) -> Iterator[Step]:
    """Yield the epoch's steps; a client with fewer batches than another doesn't take the later ones.

    The order is drawn per (seed, client, round, epoch), so it doesn't depend on the packing.
    """
    orders = [
        streams.generator("batches", *member, round, epoch).permutation(graphs)
        for member, graphs in zip(members, block.train, strict=True)
    ]
    size = training.batch_size or max(len(order) for order in orders)
    starts = range(0, max(len(order) for order in orders), size)
    chosen = [[order[start : start + size] for order in orders] for start in starts]
    for graphs, batch in zip(chosen, block.batches(chosen), strict=True):
        takes = np.array([len(own) > 0 for own in graphs])
        yield Step(batch, None if takes.all() else torch.from_numpy(takes))
