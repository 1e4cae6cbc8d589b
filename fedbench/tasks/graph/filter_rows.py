"""What spectral filters are read with at the edges of a client's graphs, made once a client."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from fedbench.tasks.graph.arrays import ClientGraphs
from fedbench.tasks.graph.colours import Rows, entries_of
from fedbench.tasks.graph.edges import EdgePart


@dataclass(frozen=True)
class FilterRows:
    """U[a, f] U[b, f] of every pair of joined nodes a, b and eigenvalue f: p x n numbers a graph of p pairs, n nodes.

    A filter U diag(s) U' has at (a, b) the pair's row times s. Batches join graphs' rows, and those of the transpose.

    Attributes:
        pairs: int64[g + 1], where each graph's pairs start; by a, then b, a < b.
        entries: int64[g + 1], where each graph's numbers start.
        by_pair: the numbers, pair after pair, as precise as training.
        by_node: the same with the node that f stands for first.
    """

    pairs: np.ndarray
    entries: np.ndarray
    by_pair: np.ndarray
    by_node: np.ndarray

    @classmethod
    def of(cls, client: ClientGraphs, start: np.ndarray, vectors: np.ndarray, dtype: torch.dtype) -> FilterRows:
        """Return the rows of all graphs; ``start``, ``vectors`` as in `fedbench.tasks.graph.spectra.Spectra`."""
        part = EdgePart.of(client, np.arange(len(client.labels)))
        a, b = (end[part.targets < part.sources] for end in (part.targets, part.sources))
        sizes = np.diff(client.nodes)
        counts = np.bincount(part.graph_of_node[a], minlength=len(sizes))
        pairs, entries = (np.concatenate([[0], np.cumsum(own)]) for own in (counts, counts * sizes))
        at_a, at_b = (entries_of(start, end)[0] for end in (a, b))
        numbers = torch.from_numpy(vectors[at_a] * vectors[at_b]).to(dtype).numpy()
        by_node = np.empty_like(numbers)
        by_node[_turned(counts, sizes, entries)] = numbers
        return cls(pairs, entries, numbers, by_node)

    def of_graphs(self, graphs: np.ndarray, nodes: np.ndarray, slots: tuple[int, int]) -> tuple[Rows, Rows]:
        """Return the chosen graphs' rows, one a pair, and those of the transpose.

        Args:
            graphs: the chosen ones.
            nodes: where each one's nodes start in the batch.
            slots: numbers of pairs and of nodes after padding.
        """
        entries, pairs = entries_of(self.entries, graphs)[0], entries_of(self.pairs, graphs)[1]
        place = np.arange(len(graphs))
        columns, start = entries_of(nodes, np.repeat(place, np.diff(pairs)))
        back, back_start = entries_of(pairs, np.repeat(place, np.diff(nodes)))
        of_pairs = Rows(start, columns, self.by_pair[entries], slots[1])
        return of_pairs, Rows(back_start, back, self.by_node[entries], slots[0])


def _turned(rows: np.ndarray, columns: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return where each entry of some matrices, stored row by row from ``starts`` on, lies in their transposes."""
    matrix = np.repeat(np.arange(len(rows)), rows * columns)
    within = np.arange(starts[-1]) - starts[matrix]
    row, column = np.divmod(within, columns[matrix])
    return starts[matrix] + column * rows[matrix] + row
