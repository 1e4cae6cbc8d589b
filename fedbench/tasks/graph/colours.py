"""Equal rows of sparse matrices, and what a graph network computes on them only once.

A node's colour after layer l is what the network's output there depends on: without dropout it is the multiset of the
colours before, of the node and its neighbours (one step of the Weisfeiler-Leman refinement). Molecules have few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedbench import seeds as streams


@dataclass(frozen=True)
class Rows:
    """A sparse matrix by rows: row i has ``columns[start[i] : start[i + 1]]``, with ``values`` (None: ones)."""

    start: np.ndarray
    columns: np.ndarray
    values: Any
    width: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def take(self, rows: np.ndarray) -> Rows:
        """Return the chosen rows, in that order."""
        entries, start = entries_of(self.start, rows)
        return Rows(start, self.columns[entries], self.values[entries], self.width)


def entries_of(start: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the entries of the chosen rows lie, one after another, and the chosen rows' own ``start``."""
    lengths = start[rows + 1] - start[rows]
    own = np.concatenate([[0], np.cumsum(lengths)])
    return np.arange(own[-1]) + np.repeat(start[rows] - own[:-1], lengths), own


def summed_rows(start: np.ndarray, neighbours: np.ndarray, rows: Rows) -> Rows:
    """Return, for each node, the sum of the rows of those it lists (itself included, if it lists itself).

    Args:
        start: int64[n + 1], node i lists ``neighbours[start[i] : start[i + 1]]``.
        neighbours: int64[entries], rows of ``rows``.
        rows: what is summed.
    """
    entries, own = entries_of(rows.start, neighbours)
    node = np.repeat(np.repeat(np.arange(len(start) - 1), np.diff(start)), np.diff(own))
    cells, inverse = np.unique(node * rows.width + rows.columns[entries], return_inverse=True)
    values = np.bincount(inverse, weights=rows.values[entries], minlength=len(cells))
    counts = np.bincount(cells // rows.width, minlength=len(start) - 1)
    return Rows(np.concatenate([[0], np.cumsum(counts)]), cells % rows.width, values, rows.width)


def indicator(colours: np.ndarray, count: int) -> Rows:
    """Return rows with a one at each node's colour."""
    return Rows(np.arange(len(colours) + 1), colours, np.ones(len(colours)), count)


def distinct(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return one representative of each distinct row, int64[u], and each row's number among them, int64[n].

    Rows are told apart by random 64-bit sums; a row that differs from its representative gets another sum. That is no
    rare case: where only the order of two small counts differs, so do the sums, in no more than twelve of their bits.
    """
    keys, attempt = _sums(rows, streams.generator("colours", rows.width)), 0
    while True:
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        apart = _unequal(rows, first[inverse])
        if not len(apart):
            return first, inverse.astype(np.int64)
        attempt += 1
        keys[apart] = _sums(rows.take(apart), streams.generator("colours", rows.width, attempt))


def _sums(rows: Rows, random: np.random.Generator) -> np.ndarray:
    """Return a sum of each row's entries, uint64[n], modulo 2**64; equal rows have equal ones."""
    factors = random.integers(1, 2**63, rows.width, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    terms = (rows.values.astype(np.float64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * factors[rows.columns]
    terms ^= terms >> np.uint64(29)
    ends = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
    return ends[rows.start[1:]] - ends[rows.start[:-1]]


def _unequal(rows: Rows, others: np.ndarray) -> np.ndarray:
    """Return which rows differ from the ones named beside them, int64[...], ascending."""
    lengths = np.diff(rows.start)
    differs = lengths != lengths[others]
    alike = np.flatnonzero(~differs)
    ours, theirs = rows.take(alike), rows.take(others[alike])
    entries = (ours.columns != theirs.columns) | (ours.values != theirs.values)
    differs[np.repeat(alike, lengths[alike])[entries]] = True
    return np.flatnonzero(differs)


def present(colours: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the colours that occur, ascending, and each one's place among them (`numpy.unique`, without sorting).

    Args:
        colours: int64[n], below ``count``.
        count: number of colours.
    """
    occurs = np.zeros(count, dtype=bool)
    occurs[colours] = True
    place = np.cumsum(occurs, dtype=np.int32) - 1
    return np.flatnonzero(occurs), place[colours]
