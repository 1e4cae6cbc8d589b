"""Batches of graphs of packed clients as the sparse matrices that a graph network multiplies with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix, from_rows
from fedbench.tasks.graph.arrays import Chosen, ClientGraphs, choose
from fedbench.tasks.graph.colours import Rows, present
from fedbench.tasks.graph.epoch import Several
from fedbench.tasks.task import Place

EVALUATED_SPLITS = ("val", "test")
ABSENT = -1e30
"""Logit of a class that a client hasn't: its probability is 0, its gradient too."""
_TOGETHER = 8  # batches made at once: more gain little, and cost memory


@dataclass(frozen=True)
class Batch:
    """A batch of every packed client, see `fedbench.models.gin.GraphBatch`.

    ``sizes``: nodes of each client, padded to ``slots``. ``labels`` int64[clients * graph_slots], -100 for padding.
    ``train_counts`` [clients, classes]: training graphs of each class, whatever the batch.
    ``between``: A + I, one matrix for all layers from 2 on, or one a layer. ``extra`` [clients, slots, width]: what a
    method put beside nodes' features. ``absent`` [clients, 1, classes]: what is added to logits, `ABSENT` for classes
    that a client hasn't and 0 for its own; None where all have the same.
    """

    sizes: tuple[int, ...]
    slots: int
    graph_sizes: tuple[int, ...]
    graph_slots: int
    first: SparseMatrix
    degrees: Tensor
    spread: SparseMatrix | None
    between: tuple[SparseMatrix, ...]
    pool: SparseMatrix
    labels: Tensor
    train_counts: Tensor
    extra: Tensor | None = None
    absent: Tensor | None = None

    @property
    def clients(self) -> int:
        """Packed clients."""
        return len(self.sizes)

    @property
    def device(self) -> torch.device:
        """Where the batch lives."""
        return self.labels.device

    def neighbours(self, layer: int) -> SparseMatrix:
        """Return A + I for a layer, from 2 on."""
        return self.between[min(layer - 2, len(self.between) - 1)]

    def among_own(self, logits: Tensor) -> Tensor:
        """Return logits [clients, graphs, classes] in which a class that a client hasn't can't win."""
        return logits if self.absent is None else logits + self.absent

    def loss(self, logits: Tensor) -> Tensor:
        """Return the mean negative log-likelihood over each client's graphs, [clients]; 0 where it has none."""
        logits = self.among_own(logits)
        if self.clients == 1 and self.graph_sizes[0] > 0:  # the same in fewer steps
            return torch.nn.functional.cross_entropy(logits.flatten(0, 1), self.labels).view(1)
        losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), self.labels, reduction="none")
        counts = torch.tensor(self.graph_sizes, dtype=losses.dtype, device=self.device).clamp(min=1)
        return losses.view(self.clients, -1).sum(1) / counts


@dataclass(frozen=True)
class GraphBlock:
    """The packed clients' graphs, from which batches are made. ``clients``: seed-major."""

    clients: Sequence[ClientGraphs]
    place: Place

    @cached_property
    def train(self) -> list[np.ndarray]:
        """Every client's training graphs."""
        return [client.of_split("train") for client in self.clients]

    @cached_property
    def train_counts(self) -> Tensor:
        """[clients, classes]: training graphs of each class; 0 for classes that a client hasn't."""
        classes = max(client.classes for client in self.clients)
        labels = [client.labels[own] for client, own in zip(self.clients, self.train, strict=True)]
        counts = torch.from_numpy(np.stack([np.bincount(own, minlength=classes) for own in labels]))
        return counts.to(dtype=self.place.dtype, device=self.place.device)

    @cached_property
    def absent(self) -> Tensor | None:
        """`ABSENT` for each class that a packed client hasn't, [clients, 1, classes]; None where all have the same."""
        own = torch.tensor([client.classes for client in self.clients])
        if len(own.unique()) == 1:
            return None
        lacking = torch.arange(int(own.max())).view(1, 1, -1) >= own.view(-1, 1, 1)
        return lacking.to(dtype=self.place.dtype, device=self.place.device) * ABSENT

    def batch(self, graphs: Sequence[np.ndarray]) -> Batch:
        """Return a batch of the chosen graphs of each client."""
        parts = [Part.of(client, chosen) for client, chosen in zip(self.clients, graphs, strict=True)]
        slots = max(len(part.chosen.rows) for part in parts)
        graph_slots = max(len(part.chosen.labels) for part in parts)
        rows = max(len(part.first) for part in parts)
        coloured = any(part.colour is not None for part in parts)
        spread = [Rows(np.arange(len(p.chosen.rows) + 1), p.colour_of_each(), None, rows) for p in parts]
        passing = [Rows(p.chosen.start, p.chosen.neighbours, None, slots) for p in parts]
        pooling = [Rows(p.chosen.nodes, np.arange(len(p.chosen.rows)), None, slots) for p in parts]
        return Batch(
            sizes=tuple(len(part.chosen.rows) for part in parts),
            slots=slots,
            graph_sizes=tuple(len(part.chosen.labels) for part in parts),
            graph_slots=graph_slots,
            first=self.matrix([part.first for part in parts], rows),
            degrees=self.padded([part.degrees for part in parts], rows),
            spread=self.matrix(spread, slots) if coloured else None,
            between=(self.matrix(passing, slots, symmetric=True),),
            pool=self.matrix(pooling, graph_slots),
            labels=self.labels([part.chosen.labels for part in parts], graph_slots),
            train_counts=self.train_counts,
            extra=self.extra([part.chosen.rows for part in parts], slots),
            absent=self.absent,
        )

    def batches(self, graphs: Sequence[Sequence[np.ndarray]]) -> Iterator[Batch]:
        """Yield batches, for each the chosen graphs of every client; one client's are made several at a time."""
        if len(self.clients) > 1:
            yield from map(self.batch, graphs)
            return
        alone = [own for (own,) in graphs]
        for start in range(0, len(alone), _TOGETHER):
            yield from self._several(alone[start : start + _TOGETHER])

    def _several(self, graphs: Sequence[np.ndarray]) -> Iterator[Batch]:
        made = Several.of(self.clients[0], self.place, graphs)
        parts = made.first(), made.degrees(), made.spread(), made.between(), made.pool(), made.labels(), made.extra()
        for first, degrees, spread, between, pool, labels, extra in zip(*parts, strict=True):
            nodes, own = between.shape[0], len(labels)
            yield Batch(
                (nodes,), nodes, (own,), own, first, degrees, spread, (between,), pool, labels, self.train_counts, extra
            )

    @property
    def has_extra(self) -> bool:
        """Tell whether a method put anything beside nodes' features."""
        return self.clients[0].extra is not None

    def extra(self, rows: Sequence[np.ndarray], slots: int) -> Tensor | None:
        """Return what stands beside the chosen nodes' features, [clients, slots, width], or None."""
        values = [client.extra[own] for client, own in zip(self.clients, rows, strict=True) if client.extra is not None]
        if not values:
            return None
        out = np.zeros((len(values), slots, values[0].shape[1]))
        for place, own in zip(out, values, strict=True):
            place[: len(own)] = own
        return torch.from_numpy(out).to(dtype=self.place.dtype, device=self.place.device)

    def matrix(self, parts: Sequence[Rows], rows: int, *, symmetric: bool = False) -> SparseMatrix:
        """Return the block-diagonal matrix of the clients' rows, each padded to ``rows`` empty ones."""
        return from_rows(
            [part.start for part in parts],
            [part.columns for part in parts],
            [part.values for part in parts],
            (rows, max(part.width for part in parts)),
            dtype=self.place.dtype,
            device=self.place.device,
            symmetric=symmetric,
        )

    def padded(self, columns: Sequence[np.ndarray], rows: int) -> Tensor:
        """Return [clients, rows, 1]."""
        out = np.zeros((len(columns), rows, 1))
        for row, values in zip(out, columns, strict=True):
            row[: len(values), 0] = values
        return torch.from_numpy(out).to(dtype=self.place.dtype, device=self.place.device)

    def labels(self, parts: Sequence[np.ndarray], slots: int) -> Tensor:
        """Return int64[clients * slots], -100 (torch's word for "don't count") for padding."""
        out = np.full((len(parts), slots), -100, dtype=np.int64)
        for row, labels in zip(out, parts, strict=True):
            row[: len(labels)] = labels
        return torch.from_numpy(out.ravel()).to(self.place.device)


@dataclass(frozen=True)
class Part:
    """One client's graphs of a batch.

    ``first``: rows of (A + I) X; ``degrees``: their row sums of A + I; ``colour``: a node's row among them, None where
    rows are those of the nodes themselves.
    """

    chosen: Chosen
    first: Rows
    degrees: np.ndarray
    colour: np.ndarray | None

    @classmethod
    def of(cls, client: ClientGraphs, graphs: np.ndarray) -> Part:
        """Return a client's part of a batch."""
        chosen = choose(client, graphs)
        if not client.coloured:
            return cls(chosen, client.gathered.take(chosen.rows), client.degrees[chosen.rows], None)
        representative, colour = client.colours
        occurring, local = present(colour[chosen.rows], len(representative))
        nodes = representative[occurring]
        return cls(chosen, client.gathered.take(nodes), client.degrees[nodes], local)

    def colour_of_each(self) -> np.ndarray:
        """Return every node's row among ``first``."""
        return np.arange(len(self.chosen.rows)) if self.colour is None else self.colour
