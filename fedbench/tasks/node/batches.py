"""A local epoch's steps: all training nodes at once, or batches of them with sampled neighbours (GraphSAGE)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from fedbench import seeds as streams
from fedbench.configuration.protocol import TrainingSettings
from fedbench.kernels.sparse import SparseMatrix, sparse_matrix
from fedbench.tasks.node.block import NodeBlock
from fedbench.tasks.task import Member


def batches(
    block: NodeBlock, training: TrainingSettings, members: Sequence[Member], round: int, epoch: int
) -> Iterator[NodeBlock]:
    """Yield the blocks of an epoch's steps; each is the clients' graphs with the training nodes of one step.

    Every client's training nodes are put into a random order and cut into batches; a client with fewer batches than
    another has no training node in the later steps. Nodes and neighbours are drawn per (seed, client, round, epoch), so
    they don't depend on the packing.

    Args:
        block: the packed clients.
        training: ``batch_size`` and ``neighbour_samples``.
        members: who is packed.
        round: communication round, from 1.
        epoch: local epoch, from 0.
    """
    if training.batch_size is None and training.neighbour_samples is None:
        yield block
        return
    generators = [streams.generator("batches", *member, round, epoch) for member in members]
    for nodes, owner in _steps(block, training.batch_size, generators):
        drawn = tuple(_drawn(block, count, generators) for count in training.neighbour_samples or ())
        yield replace(block, train_slots=nodes, train_client=owner, drawn=drawn)


def _steps(
    block: NodeBlock, size: int | None, generators: Sequence[np.random.Generator]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield slots and packed client of each step's training nodes."""
    slots, owner = block.train_slots.cpu().numpy(), block.train_client.cpu().numpy()
    orders = [random.permutation(slots[owner == client]) for client, random in enumerate(generators)]
    size = size or max(len(order) for order in orders)
    for start in range(0, max(len(order) for order in orders), size):
        parts = [order[start : start + size] for order in orders]
        clients = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        nodes, owners = (torch.from_numpy(a).to(block.labels.device) for a in (np.concatenate(parts), clients))
        yield nodes, owners


def _drawn(block: NodeBlock, count: int, generators: Sequence[np.random.Generator]) -> SparseMatrix:
    """Return the mean over ``count`` neighbours of each node, drawn with replacement; no neighbours: an empty row."""
    indptr = block.adjacency.indptr.cpu().numpy().astype(np.int64)
    degrees = np.diff(indptr)
    drawn = np.zeros((len(generators), block.slots, count))
    for row, size, random in zip(drawn, block.sizes, generators, strict=True):
        row[:size] = random.random((size, count))
    chance = drawn.reshape(-1, count)
    linked = np.flatnonzero(degrees)
    entries = indptr[linked, None] + (chance[linked] * degrees[linked, None]).astype(np.int64)
    columns = block.adjacency.indices.cpu().numpy()[entries].astype(np.int64)
    values = np.full(columns.size, 1.0 / count)
    return sparse_matrix(
        np.repeat(linked, count), columns.ravel(), values, block.adjacency.shape,
        dtype=block.present.dtype, device=block.present.device,
    )  # fmt: skip
