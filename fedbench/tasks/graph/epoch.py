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

from fedbench.kernels.sparse import SparseMatrix
from fedbench.tasks.graph.arrays import Chosen, ClientGraphs, choose
from fedbench.tasks.graph.colours import present
from fedbench.tasks.task import Place


@dataclass(frozen=True)
class Several:
    """Some batches of one client, one behind the other.

    ``ends``: int64[batches + 1], where each batch starts among the graphs; likewise ``node_ends`` among the nodes.
    """

    client: ClientGraphs
    place: Place
    chosen: Chosen
    ends: np.ndarray

    @classmethod
    def of(cls, client: ClientGraphs, place: Place, graphs: Sequence[np.ndarray]) -> Several:
        """Choose the graphs of all batches."""
        ends = np.concatenate([[0], np.cumsum([len(own) for own in graphs])])
        return cls(client, place, choose(client, np.concatenate(graphs)), ends)

    @cached_property
    def node_ends(self) -> np.ndarray:
        """Return where each batch's nodes start, int64[batches + 1]."""
        return self.chosen.nodes[self.ends]

    def batches(self) -> range:
        """Return the batches' numbers."""
        return range(len(self.ends) - 1)

    def between(self) -> Iterator[SparseMatrix]:
        """Yield A + I of each batch."""
        start, ends = self.chosen.start, self.chosen.start[self.node_ends]
        columns = (self.chosen.neighbours - np.repeat(self.node_ends[:-1], np.diff(ends))).astype(np.int32)
        for low, high, first, last in zip(self.node_ends[:-1], self.node_ends[1:], ends[:-1], ends[1:], strict=True):
            indptr, size = _from(start, low, high), int(high - low)
            matrix = self._matrix(indptr, columns[first:last], None, (size, size))
            matrix._transposed.append(matrix)
            yield matrix

    def pool(self) -> Iterator[SparseMatrix]:
        """Yield the sums over each graph's nodes."""
        graph = np.arange(self.ends[-1]) - np.repeat(self.ends[:-1], np.diff(self.ends))
        of_node = np.repeat(graph, np.diff(self.chosen.nodes)).astype(np.int32)
        for batch in self.batches():
            low, high = self.ends[batch], self.ends[batch + 1]
            first, last = self.node_ends[batch], self.node_ends[batch + 1]
            nodes, shape = self._count[: last - first + 1], (int(high - low), int(last - first))
            sums = self._matrix(_from(self.chosen.nodes, low, high), nodes[:-1], None, shape)
            yield _paired(sums, self._matrix(nodes, of_node[first:last], None, shape[::-1]))

    def spread(self) -> Iterator[SparseMatrix | None]:
        """Yield which row of `first` each node has; None where rows are nodes."""
        if not self.client.coloured:
            yield from [None for _ in self.batches()]
            return
        row, row_ends = self._row_of_node, self.row_ends
        order = _stable_order(row, int(row_ends[-1]))
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=row_ends[-1]))])
        local = (row - np.repeat(row_ends[:-1], np.diff(self.node_ends))).astype(np.int32)
        back = (order - np.repeat(self.node_ends[:-1], np.diff(self.node_ends))).astype(np.int32)
        for batch in self.batches():
            first, last = self.node_ends[batch], self.node_ends[batch + 1]
            low, high = row_ends[batch], row_ends[batch + 1]
            shape = (int(last - first), int(high - low))
            nodes = self._matrix(self._count[: shape[0] + 1], local[first:last], None, shape)
            yield _paired(nodes, self._matrix(_from(start, low, high), back[first:last], None, shape[::-1]))

    def first(self) -> Iterator[SparseMatrix]:
        """Yield the rows of (A + I) X that a batch has, each once where that is a gain."""
        rows, width = self.client.gathered.take(self._nodes_of_rows), self.client.gathered.width
        entry_ends = rows.start[self.row_ends]
        batch_of_entry = np.repeat(np.arange(len(self.batches())), np.diff(entry_ends))
        keys = batch_of_entry * width + rows.columns
        order = _stable_order(keys, len(self.batches()) * width)
        start = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=len(self.batches()) * width))])
        row = np.repeat(np.arange(len(rows)), np.diff(rows.start))[order]
        back = (row - np.repeat(self.row_ends[:-1], np.diff(entry_ends))).astype(np.int32)
        numbers = torch.from_numpy(rows.values).to(self.place.dtype)
        turned, columns = numbers[torch.from_numpy(order)], rows.columns.astype(np.int32)
        for batch in self.batches():
            low, high = self.row_ends[batch], self.row_ends[batch + 1]
            own, shape = slice(entry_ends[batch], entry_ends[batch + 1]), (int(high - low), width)
            there = self._matrix(_from(rows.start, low, high), columns[own], numbers[own], shape)
            indptr = _from(start, batch * width, (batch + 1) * width)
            yield _paired(there, self._matrix(indptr, back[own], turned[own], shape[::-1]))

    def degrees(self) -> Iterator[Tensor]:
        """Yield the row sums of A + I of the rows of `first`, [1, rows, 1]."""
        values = self._tensor(self.client.degrees[self._nodes_of_rows]).to(self.place.dtype)
        for batch in self.batches():
            yield values[self.row_ends[batch] : self.row_ends[batch + 1]].view(1, -1, 1)

    def labels(self) -> Iterator[Tensor]:
        """Yield the graphs' classes."""
        labels = self._tensor(self.chosen.labels)
        for batch in self.batches():
            yield labels[self.ends[batch] : self.ends[batch + 1]]

    def extra(self) -> Iterator[Tensor | None]:
        """Yield what stands beside the nodes' features, [1, nodes, width], or None."""
        if self.client.extra is None:
            yield from [None for _ in self.batches()]
            return
        values = self._tensor(self.client.extra[self.chosen.rows]).to(self.place.dtype)
        for batch in self.batches():
            yield values[self.node_ends[batch] : self.node_ends[batch + 1]].unsqueeze(0)

    @cached_property
    def _count(self) -> np.ndarray:
        """Return 0, 1, ... as far as any batch's nodes go."""
        return np.arange(int(np.diff(self.node_ends).max()) + 1, dtype=np.int32)

    @cached_property
    def _colours(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return pairs (batch, colour) that occur, as one ascending number each; every node's place among them."""
        representative, colour = self.client.colours
        of_batch = np.repeat(np.arange(len(self.batches())) * len(representative), np.diff(self.node_ends))
        return *present(of_batch + colour[self.chosen.rows], len(self.batches()) * len(representative)), len(
            representative
        )

    @property
    def _row_of_node(self) -> np.ndarray:
        return self._colours[1]

    @cached_property
    def _nodes_of_rows(self) -> np.ndarray:
        """Return the client's node that stands for each row of `first`, batch after batch."""
        if not self.client.coloured:
            return self.chosen.rows
        occurring, _, colours = self._colours
        return self.client.colours[0][occurring % colours]

    @cached_property
    def row_ends(self) -> np.ndarray:
        """Return where each batch's rows of `first` start, int64[batches + 1]."""
        if not self.client.coloured:
            return self.node_ends
        occurring, _, colours = self._colours
        return np.searchsorted(occurring, np.arange(len(self.ends)) * colours)

    def _matrix(
        self, indptr: np.ndarray, indices: np.ndarray, values: Tensor | None, shape: tuple[int, int]
    ) -> SparseMatrix:
        numbers = None if values is None else values.to(self.place.device)
        return SparseMatrix(self._tensor(indptr), self._tensor(indices), numbers, shape)

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(values).to(self.place.device)


def _from(start: np.ndarray, low: int, high: int) -> np.ndarray:
    """Return ``start`` of the rows ``low`` to ``high`` - 1 alone."""
    return (start[low : high + 1] - start[low]).astype(np.int32)


def _paired(matrix: SparseMatrix, transposed: SparseMatrix) -> SparseMatrix:
    """Let two matrices know each other as transposes; return the first."""
    matrix._transposed.append(transposed)
    transposed._transposed.append(matrix)
    return matrix


def _stable_order(keys: np.ndarray, count: int) -> np.ndarray:
    """Return the stable ascending order of ``keys`` below ``count``; small ones are sorted by their digits."""
    return np.argsort(keys.astype(np.uint16) if count <= 1 << 16 else keys, kind="stable")
