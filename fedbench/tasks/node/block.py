"""Node classification: a client holds a subgraph; loss is cross-entropy on its training nodes, metric accuracy.

`NodeProblem` is a data set and a partition as arrays; `NodeBlock` is what is computed in one step: some seeds of all
clients, padded to the same number of node slots and laid out block-diagonally.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.features import ClientFeatures, Coordinates, features_of
from fedbench.kernels.sparse import SparseMatrix, sparse_matrix
from fedbench.tasks.node.arrays import PROPAGATIONS, ClientGraph, NodeProblem, offsets

EVALUATED_SPLITS = ("val", "test")


@dataclass(frozen=True)
class EvaluationNodes:
    """The nodes of one split: flat slots [m], the client each counts for [m], and nodes per client [groups]."""

    slots: Tensor
    group: Tensor
    counts: Tensor


@dataclass(frozen=True)
class NodeBlock:
    """Packed clients, seed-major: packed client ``b`` is seed ``b // K``, client ``b % K``.

    ``labels`` int64[clients * slots]; ``train_slots`` int64[m] flat slots of training nodes, ``train_client`` int64[m]
    their packed client. ``members``: the nodes of each split by the client they count for. ``drawn``: sampled
    propagation matrices, one a layer, in place of ``adjacency``. ``received``: what other clients sent of their
    representations, one a layer. `fedbench.models.network.GraphBlock` says what networks read.
    """

    sizes: tuple[int, ...]
    slots: int
    classes: int
    features: ClientFeatures
    adjacency: SparseMatrix
    present: Tensor
    labels: Tensor
    train_slots: Tensor
    train_client: Tensor
    members: dict[str, EvaluationNodes]
    drawn: tuple[SparseMatrix, ...] = ()
    received: tuple[Tensor, ...] = ()

    @property
    def clients(self) -> int:
        """Packed clients."""
        return len(self.sizes)

    @property
    def device(self) -> torch.device:
        """Where the block lives."""
        return self.present.device

    def propagation(self, layer: int) -> SparseMatrix:
        """Return the matrix that layer ``layer``, from 1, multiplies with."""
        return self.drawn[layer - 1] if self.drawn else self.adjacency

    @cached_property
    def train_counts(self) -> Tensor:
        """[clients, classes]: training nodes of each class."""
        cells = self.train_client * self.classes + self.labels[self.train_slots]
        counts = torch.bincount(cells, minlength=self.clients * self.classes)
        return counts.view(self.clients, self.classes).to(self.present.dtype)

    @cached_property
    def _train_weight(self) -> Tensor:
        """[m]: 1 / training nodes of the node's client."""
        return 1.0 / self.train_counts.sum(1)[self.train_client]

    def loss(self, logits: Tensor) -> Tensor:
        """Return the mean cross-entropy over each client's training nodes, [clients]; 0 where a client has none."""
        chosen = logits.reshape(-1, self.classes)[self.train_slots]
        losses = torch.nn.functional.cross_entropy(chosen, self.labels[self.train_slots], reduction="none")
        return losses.new_zeros(self.clients).index_add(0, self.train_client, losses * self._train_weight)

    def accuracy(self, logits: Tensor) -> dict[str, Tensor]:
        """Return per split the accuracy of each evaluated client, float64 [groups]; NaN where it has no node."""
        correct = logits.reshape(-1, self.classes).argmax(1) == self.labels
        return {split: _share(correct, self.members[split]) for split in EVALUATED_SPLITS}


def _share(correct: Tensor, nodes: EvaluationNodes) -> Tensor:
    hits = torch.bincount(nodes.group[correct[nodes.slots]], minlength=len(nodes.counts))
    return hits.double() / nodes.counts.double()


def pack(
    graphs: Sequence[Sequence[ClientGraph]],
    problem: NodeProblem,
    propagation: str,
    *,
    dtype: torch.dtype,
    device: torch.device,
) -> NodeBlock:
    """Pack some clients' graphs, for every seed computed at once, into one block.

    Args:
        graphs: what is trained on, a list a seed: consecutive clients, or the whole graph for centralised training.
        problem: gives widths and classes.
        propagation: key of `PROPAGATIONS`.
        dtype: of features, adjacency and everything computed.
        device: where the block lives.
    """
    packed = [graph for of_seed in graphs for graph in of_seed]
    slots = max(graph.size for graph in packed)
    owner, train = _training_nodes(packed, slots)
    present = np.arange(slots)[None, :] < np.array([graph.size for graph in packed])[:, None]
    return NodeBlock(
        sizes=tuple(graph.size for graph in packed),
        slots=slots,
        classes=problem.classes,
        features=_features(packed, slots, problem.width, dtype, device),
        adjacency=_propagation(packed, slots, propagation, dtype, device),
        present=torch.from_numpy(present).to(device=device, dtype=dtype),
        labels=torch.from_numpy(_labels(packed, slots)).to(device),
        train_slots=torch.from_numpy(train).to(device),
        train_client=torch.from_numpy(owner).to(device),
        members={split: _members(graphs, slots, split, device) for split in ("train", *EVALUATED_SPLITS)},
    )


def _labels(packed: Sequence[ClientGraph], slots: int) -> np.ndarray:
    labels = np.zeros((len(packed), slots), dtype=np.int64)
    for row, graph in zip(labels, packed, strict=True):
        row[: graph.size] = graph.labels
    return labels.ravel()


def _training_nodes(packed: Sequence[ClientGraph], slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the packed client and the flat slot of every training node."""
    nodes = [graph.of_split("train") for graph in packed]
    owner = np.repeat(np.arange(len(packed)), [len(n) for n in nodes])
    return owner, np.concatenate(nodes) + owner * slots


def _members(graphs: Sequence[Sequence[ClientGraph]], slots: int, split: str, device: torch.device) -> EvaluationNodes:
    """Return a split's nodes, counted for the clients that own them, numbered from the first client packed."""
    nodes = [[graph.of_split(split) for graph in of_seed] for of_seed in graphs]
    owners = [[graph.owner[n] for graph, n in zip(*pair, strict=True)] for pair in zip(graphs, nodes, strict=True)]
    first = min(int(graph.owner.min()) for graph in graphs[0])
    groups = max(int(graph.owner.max()) for graph in graphs[0]) + 1 - first
    slot = offsets([offsets(of_seed, slots) for of_seed in nodes], len(graphs[0]) * slots)
    group = offsets([np.concatenate(of_seed) - first for of_seed in owners], groups)
    counts = np.bincount(group, minlength=len(graphs) * groups)
    return EvaluationNodes(*(torch.from_numpy(a.astype(np.int64)).to(device) for a in (slot, group, counts)))


def _features(
    packed: Sequence[ClientGraph], slots: int, width: int, dtype: torch.dtype, device: torch.device
) -> ClientFeatures:
    parts = [Coordinates(graph.feature_rows, graph.feature_columns, graph.feature_values) for graph in packed]
    return features_of(parts, (slots, width), dtype=dtype, device=device)


def _propagation(
    packed: Sequence[ClientGraph], slots: int, kind: str, dtype: torch.dtype, device: torch.device
) -> SparseMatrix:
    parts = [PROPAGATIONS[kind](graph) for graph in packed]
    rows, columns = (offsets(list(a), slots) for a in zip(*((p.rows, p.columns) for p in parts), strict=True))
    values = np.concatenate([part.values for part in parts])
    shape = (len(packed) * slots,) * 2
    return sparse_matrix(rows, columns, values, shape, dtype=dtype, device=device, symmetric=parts[0].symmetric)
