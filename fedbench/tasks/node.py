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

from fedbench.kernels.sparse import SparseMatrix, sparse_matrix
from fedbench.tasks.node_arrays import ClientGraph, NodeProblem, offsets

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
    their packed client. `fedbench.models.network.GraphBlock` says what networks read.
    """

    sizes: tuple[int, ...]
    slots: int
    classes: int
    features: SparseMatrix
    adjacency: SparseMatrix
    present: Tensor
    labels: Tensor
    train_slots: Tensor
    train_client: Tensor
    evaluated: dict[str, EvaluationNodes]

    @property
    def clients(self) -> int:
        """Packed clients."""
        return len(self.sizes)

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
        return {split: _share(correct, nodes) for split, nodes in self.evaluated.items()}


def _share(correct: Tensor, nodes: EvaluationNodes) -> Tensor:
    hits = torch.bincount(nodes.group[correct[nodes.slots]], minlength=len(nodes.counts))
    return hits.double() / nodes.counts.double()


def pack(
    graphs: Sequence[ClientGraph], problem: NodeProblem, seeds: int, *, dtype: torch.dtype, device: torch.device
) -> NodeBlock:
    """Pack ``seeds`` copies of some clients' graphs into one block.

    Args:
        graphs: what is trained on: consecutive clients, or the whole graph for centralised training.
        problem: gives widths and classes.
        seeds: copies (1 on CPU, where packing seeds doesn't pay).
        dtype: of features, adjacency and everything computed.
        device: where the block lives.
    """
    packed = list(graphs) * seeds
    slots = max(graph.size for graph in graphs)
    owner, train = _training_nodes(packed, slots)
    present = np.arange(slots)[None, :] < np.array([graph.size for graph in packed])[:, None]
    return NodeBlock(
        sizes=tuple(graph.size for graph in packed),
        slots=slots,
        classes=problem.classes,
        features=_features(packed, slots, problem.width, dtype, device),
        adjacency=_adjacency(packed, slots, dtype, device),
        present=torch.from_numpy(present).to(device=device, dtype=dtype),
        labels=torch.from_numpy(_labels(packed, slots)).to(device),
        train_slots=torch.from_numpy(train).to(device),
        train_client=torch.from_numpy(owner).to(device),
        evaluated={split: _evaluated(graphs, seeds, slots, split, device) for split in EVALUATED_SPLITS},
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


def _evaluated(
    graphs: Sequence[ClientGraph], seeds: int, slots: int, split: str, device: torch.device
) -> EvaluationNodes:
    """Return a split's nodes, counted for the clients that own them, numbered from the first client packed."""
    nodes = [graph.of_split(split) for graph in graphs]
    flat = offsets(nodes, slots)
    owner = np.concatenate([graph.owner[n] for graph, n in zip(graphs, nodes, strict=True)])
    first = min(int(graph.owner.min()) for graph in graphs)
    owners = max(int(graph.owner.max()) for graph in graphs) + 1 - first
    group = offsets([owner - first] * seeds, owners)
    counts = np.bincount(group, minlength=seeds * owners)
    slot = offsets([flat] * seeds, len(graphs) * slots)
    return EvaluationNodes(*(torch.from_numpy(a.astype(np.int64)).to(device) for a in (slot, group, counts)))


def _features(
    packed: Sequence[ClientGraph], slots: int, width: int, dtype: torch.dtype, device: torch.device
) -> SparseMatrix:
    rows = offsets([graph.feature_rows for graph in packed], slots)
    columns = offsets([graph.feature_columns for graph in packed], width)
    values = np.concatenate([graph.feature_values for graph in packed])
    shape = (len(packed) * slots, len(packed) * width)
    return sparse_matrix(rows, columns, values, shape, dtype=dtype, device=device)


def _adjacency(packed: Sequence[ClientGraph], slots: int, dtype: torch.dtype, device: torch.device) -> SparseMatrix:
    rows = offsets([graph.adjacency_rows for graph in packed], slots)
    columns = offsets([graph.adjacency_columns for graph in packed], slots)
    values = np.concatenate([graph.adjacency_values for graph in packed])
    shape = (len(packed) * slots,) * 2
    return sparse_matrix(rows, columns, values, shape, dtype=dtype, device=device, symmetric=True)
