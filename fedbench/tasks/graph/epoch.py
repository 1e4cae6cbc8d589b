"""One client's batches, several at a time: what is gathered, counted and sorted for them is so at once.

A batch is made of some hundred small array operations. Making eight batches together costs little more than making
one, and the result is what `fedbench.tasks.graph.block.GraphBlock.batch` makes of each (``docs/benchmarks.md``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix, own_transpose, paired
from fedbench.tasks.graph.arrays import ClientGraphs
from fedbench.tasks.graph.colours import entries_of, present
from fedbench.tasks.task import Place


@dataclass(frozen=True)
class Several:
    """Some batches of one client, one behind the other.

    ``graphs``: of all batches. ``ends``: int64[batches + 1], where each batch starts among the graphs; likewise
    ``node_ends`` among the nodes, ``row_ends`` among the rows of `first`.
    """

    client: ClientGraphs
    place: Place
    graphs: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, client: ClientGraphs, place: Place, graphs: Sequence[np.ndarray]) -> Several:
        """Choose the graphs of all batches."""
        return cls(client, place, np.concatenate(graphs), _starts([len(own) for own in graphs]))

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all nodes' numbers in the client, and where each graph's start among them."""
        return entries_of(self.client.nodes, self.graphs)

    @cached_property
    def node_ends(self) -> np.ndarray:
        """Return where each batch's nodes start, int64[batches + 1]."""
        return self._nodes[1][self.ends]

    def batches(self) -> range:
        """Return the batches' numbers."""
        return range(len(self.ends) - 1)

    def between(self) -> Iterator[SparseMatrix]:
        """Yield A + I of each batch."""
        rows, nodes = self._nodes
        entries, of_graph = entries_of(self.client.entries, self.graphs)
        place = (nodes[:-1] - np.repeat(self.node_ends[:-1], np.diff(self.ends))).astype(np.int32)
        columns = self.client.within[entries] + np.repeat(place, np.diff(of_graph))
        start, ends = _starts(self.client.degrees[rows]), of_graph[self.ends]
        for low, high, first, last in zip(self.node_ends[:-1], self.node_ends[1:], ends[:-1], ends[1:], strict=True):
            indptr, size = _from(start, low, high), int(high - low)
            yield own_transpose(self._matrix(indptr, columns[first:last], None, (size, size)))

    def pool(self) -> Iterator[SparseMatrix]:
        """Yield the sums over each graph's nodes."""
        graph = (np.arange(self.ends[-1]) - np.repeat(self.ends[:-1], np.diff(self.ends))).astype(np.int32)
        of_node = np.repeat(graph, np.diff(self._nodes[1]))
        for batch in self.batches():
            low, high = self.ends[batch], self.ends[batch + 1]
            first, last = self.node_ends[batch], self.node_ends[batch + 1]
            nodes, shape = self._count[: last - first + 1], (int(high - low), int(last - first))
            sums = self._matrix(_from(self._nodes[1], low, high), nodes[:-1], None, shape)
            yield paired(sums, self._matrix(nodes, of_node[first:last], None, shape[::-1]))

    def spread(self) -> Iterator[SparseMatrix | None]:
        """Yield which row of `first` each node has; None where rows are nodes."""
        if not self.client.coloured:
            yield from [None for _ in self.batches()]
            return
        row, row_ends = self._row_of_node, self.row_ends
        order = _stable_order(row, int(row_ends[-1]))
        start = _starts(np.bincount(row, minlength=row_ends[-1]))
        local = self._less_ends(row, row_ends, self.node_ends)
        back = self._less_ends(order, self.node_ends, self.node_ends)
        for batch in self.batches():
            first, last = self.node_ends[batch], self.node_ends[batch + 1]
            low, high = row_ends[batch], row_ends[batch + 1]
            shape = (int(last - first), int(high - low))
            nodes = self._matrix(self._count[: shape[0] + 1], local[first:last], None, shape)
            yield paired(nodes, self._matrix(_from(start, low, high), back[first:last], None, shape[::-1]))

    def first(self) -> Iterator[SparseMatrix]:
        """Yield the rows of (A + I) X that a batch has, each once where that is a gain."""
        rows, width = self.client.gathered.take(self._nodes_of_rows), self.client.gathered.width
        entry_ends = rows.start[self.row_ends]
        batch_of_entry = np.repeat(np.arange(len(self.batches())), np.diff(entry_ends))
        keys = batch_of_entry * width + rows.columns
        order = _stable_order(keys, len(self.batches()) * width)
        start = _starts(np.bincount(keys, minlength=len(self.batches()) * width))
        row = np.repeat(np.arange(len(rows)), np.diff(rows.start))[order]
        back = self._less_ends(row, self.row_ends, entry_ends)
        numbers = torch.from_numpy(rows.values).to(self.place.dtype)
        turned, columns = numbers[torch.from_numpy(order)], rows.columns.astype(np.int32)
        for batch in self.batches():
            low, high = self.row_ends[batch], self.row_ends[batch + 1]
            own, shape = slice(entry_ends[batch], entry_ends[batch + 1]), (int(high - low), width)
            there = self._matrix(_from(rows.start, low, high), columns[own], numbers[own], shape)
            indptr = _from(start, batch * width, (batch + 1) * width)
            yield paired(there, self._matrix(indptr, back[own], turned[own], shape[::-1]))

    def degrees(self) -> Iterator[Tensor]:
        """Yield the row sums of A + I of the rows of `first`, [1, rows, 1]."""
        values = self._tensor(self.client.degrees[self._nodes_of_rows]).to(self.place.dtype)
        for batch in self.batches():
            yield values[self.row_ends[batch] : self.row_ends[batch + 1]].view(1, -1, 1)

    def labels(self) -> Iterator[Tensor]:
        """Yield the graphs' classes."""
        labels = self._tensor(self.client.labels[self.graphs])
        for batch in self.batches():
            yield labels[self.ends[batch] : self.ends[batch + 1]]

    def extra(self) -> Iterator[Tensor | None]:
        """Yield what stands beside the nodes' features, [1, nodes, width], or None."""
        if self.client.extra is None:
            yield from [None for _ in self.batches()]
            return
        values = self._tensor(self.client.extra[self._nodes[0]]).to(self.place.dtype)
        for batch in self.batches():
            yield values[self.node_ends[batch] : self.node_ends[batch + 1]].unsqueeze(0)

    @cached_property
    def _count(self) -> np.ndarray:
        """Return 0, 1, ... as far as any batch's nodes go."""
        return np.arange(int(np.diff(self.node_ends).max()) + 1, dtype=np.int32)

    @cached_property
    def _colours(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what occurs of batch * colours + colour, ascending, and every node's place among that."""
        colours, batches = len(self.client.colours[0]), len(self.batches())
        of_batch = np.repeat(np.arange(batches, dtype=np.int32) * np.int32(colours), np.diff(self.node_ends))
        return present(of_batch + self.client.colours[1][self._nodes[0]], batches * colours)

    @property
    def _row_of_node(self) -> np.ndarray:
        return self._colours[1]

    @cached_property
    def _nodes_of_rows(self) -> np.ndarray:
        """Return the client's node that stands for each row of `first`, batch after batch."""
        if not self.client.coloured:
            return self._nodes[0]
        representative = self.client.colours[0]
        return representative[self._colours[0] % len(representative)]

    @cached_property
    def row_ends(self) -> np.ndarray:
        """Return where each batch's rows of `first` start, int64[batches + 1]."""
        if not self.client.coloured:
            return self.node_ends
        return np.searchsorted(self._colours[0], np.arange(len(self.ends)) * len(self.client.colours[0]))

    def _less_ends(self, numbers: np.ndarray, ends: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Return ``numbers``, of which a batch has ``parts[b]`` to ``parts[b + 1]`` - 1, counted from ``ends[b]``."""
        return numbers.astype(np.int32) - np.repeat(ends[:-1].astype(np.int32), np.diff(parts))

    def _matrix(
        self, indptr: np.ndarray, indices: np.ndarray, values: Tensor | None, shape: tuple[int, int]
    ) -> SparseMatrix:
        numbers = None if values is None else values.to(self.place.device)
        return SparseMatrix(self._tensor(indptr), self._tensor(indices), numbers, shape)

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(values).to(self.place.device)


def _starts(lengths: np.ndarray | list[int]) -> np.ndarray:
    """Return where each of some runs of these lengths starts, and where the last ends, int64."""
    return np.concatenate([[0], np.cumsum(lengths)])


def _from(start: np.ndarray, low: int, high: int) -> np.ndarray:
    """Return ``start`` of the rows ``low`` to ``high`` - 1 alone."""
    return (start[low : high + 1] - start[low]).astype(np.int32)


def _stable_order(keys: np.ndarray, count: int) -> np.ndarray:
    """Return the stable ascending order of ``keys`` below ``count``; small ones are sorted by their digits."""
    return np.argsort(keys.astype(np.uint16) if count <= 1 << 16 else keys, kind="stable")
