"""Self-attention inside each of many short sequences, computed on groups of sequences of about equal length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix, from_rows

_WIDEST = 1.5  # a group's longest sequence against its shortest: padding costs up to the square of it


@dataclass(frozen=True)
class Group:
    """Sequences padded to one length.

    ``lengths`` int64[g]. ``first`` int64[g]: where a sequence's weights start in a list of all sequences' length x
    length weights (see `Sequences.weights`).
    """

    length: int
    lengths: Tensor
    first: Tensor

    @property
    def padding(self) -> Tensor:
        """Return bool [g, 1, 1, length], where there is nothing to attend to."""
        places = torch.arange(self.length, device=self.lengths.device)
        return (places >= self.lengths.unsqueeze(1)).view(len(self.lengths), 1, 1, -1)

    def chosen(self, listed: Tensor) -> Tensor:
        """Return a list of weights ``listed`` [weights, heads] as [g, heads, length, length]; anything in padding."""
        place, own = torch.arange(self.length, device=self.first.device), self.lengths.view(-1, 1, 1)
        cell = self.first.view(-1, 1, 1) + (place.view(1, -1, 1) * own + place.view(1, 1, -1)) % (own * own)
        return listed.index_select(0, cell.flatten()).view(*cell.shape, -1).permute(0, 3, 1, 2)


@dataclass(frozen=True)
class Sequences:
    """Sequences that lie in the rows of a matrix.

    ``gather``: from rows to the padded groups, one after another; its transpose leads back. ``weights``: numbers of
    attention weights a head of each packed client.
    """

    gather: SparseMatrix
    groups: tuple[Group, ...]
    weights: tuple[int, ...]


def attend(mixed: Tensor, sequences: Sequences, heads: int, keep: Tensor | None = None) -> Tensor:
    """Return softmax(Q K' / sqrt(d)) V of every sequence and head, [rows, width]; 0 in rows of no sequence.

    Args:
        mixed: Q, K and V side by side, [rows, 3 * width].
        sequences: which rows belong together.
        heads: that the width is cut into, of d columns each.
        keep: factors of the attention weights (dropout), [weights, heads].
    """
    outputs, padded = [], sequences.gather @ mixed
    sizes = [len(group.lengths) * group.length for group in sequences.groups]
    for group, rows in zip(sequences.groups, padded.split(sizes), strict=True):
        query, key, value = rows.view(len(group.lengths), group.length, 3, heads, -1).permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])
        shares = scores.masked_fill(group.padding, -math.inf).softmax(3)
        shares = shares if keep is None else shares * group.chosen(keep)
        outputs.append((shares @ value).transpose(1, 2).reshape(len(rows), -1))
    return sequences.gather.transposed @ torch.cat(outputs)


def sequences(starts: Sequence[np.ndarray], slots: int, dtype: torch.dtype, device: torch.device) -> Sequences:
    """Return the sequences of packed clients.

    Args:
        starts: of each client, int64[sequences + 1]: sequence i is its rows ``start[i]`` to ``start[i + 1] - 1``.
        slots: rows a client after padding.
        dtype: of the rows.
        device: where they live.
    """
    lengths = np.concatenate([np.diff(start) for start in starts])
    rows = np.concatenate([start[:-1] + place * slots for place, start in enumerate(starts)])
    weights = np.concatenate([[0], np.cumsum(lengths**2)])
    groups, columns, there = [], [], []
    for chosen in _grouped(lengths):
        longest = int(lengths[chosen[-1]])
        place = np.arange(longest)
        real = place < lengths[chosen, None]
        columns.append((rows[chosen, None] + place)[real])
        there.append(real.ravel())
        own = (torch.from_numpy(array[chosen]).to(device) for array in (lengths, weights))
        groups.append(Group(longest, *own))
    start = np.concatenate([[0], np.cumsum(np.concatenate(there))])
    shape = (len(start) - 1, len(starts) * slots)
    gather = from_rows([start], [np.concatenate(columns)], [None], shape, dtype=dtype, device=device)
    return Sequences(gather, tuple(groups), tuple(int((np.diff(start) ** 2).sum()) for start in starts))


def _grouped(lengths: np.ndarray) -> list[np.ndarray]:
    """Return the sequences in groups by length, ascending."""
    order = np.argsort(lengths, kind="stable")
    groups, first = [], 0
    while first < len(order):
        widest = np.searchsorted(lengths[order], _WIDEST * lengths[order[first]], side="right")
        groups.append(order[first:widest])
        first = int(widest)
    return groups
