"""Spectra of a client's graphs: eigenpairs of L = D - A, and what batches of spectral networks are made of.

Node i of a graph stands for its i-th eigenvalue too, so a graph of n nodes needs n rows for both. Spectra are made once
a client, when its first batch is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.self_attention import Sequences, sequences
from fedbench.kernels.sparse import SparseMatrix, from_rows
from fedbench.tasks.graph.arrays import ClientGraphs
from fedbench.tasks.graph.colours import Rows, entries_of
from fedbench.tasks.graph.edges import EdgeBatch, EdgeBlock, EdgePart

_TOGETHER = 1 << 22  # numbers in the matrices that are decomposed at once


@dataclass(frozen=True)
class Spectra:
    """Eigenpairs of all of a client's graphs.

    Attributes:
        values: float64[n], the eigenvalues of each graph, ascending.
        start: int64[n + 1], node i's entries in its graph's eigenvectors are ``vectors[start[i] : start[i + 1]]``.
        vectors: float64.
    """

    values: np.ndarray
    start: np.ndarray
    vectors: np.ndarray

    def products(self, part: EdgePart, a: np.ndarray, b: np.ndarray, width: int) -> Rows:
        """Return a row of U[a, f] U[b, f] over the eigenvalues f of their graph, for every pair of nodes a, b.

        A filter U diag(s) U' has at (a, b) this row times s.
        """
        rows = part.chosen.rows
        at_a, start = entries_of(self.start, rows[a])
        at_b, _ = entries_of(self.start, rows[b])
        first = part.chosen.nodes[part.graph_of_node[a]]
        columns = np.arange(start[-1]) + np.repeat(first - start[:-1], np.diff(start))
        return Rows(start, columns, self.vectors[at_a] * self.vectors[at_b], width)


def spectra_of(client: ClientGraphs) -> Spectra:
    """Return the eigenpairs of the unnormalised Laplacian of every graph, graphs of one size at a time."""
    sizes = np.diff(client.nodes)
    of_node = np.repeat(sizes, sizes)
    start = np.concatenate([[0], np.cumsum(of_node)])
    values, vectors = np.empty(len(of_node)), np.empty(start[-1])
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        at_once = max(1, _TOGETHER // int(size) ** 2)
        for graphs in np.split(same, range(at_once, len(same), at_once)):
            first = client.nodes[graphs]
            found, own = np.linalg.eigh(_laplacians(client, graphs))
            values[first[:, None] + np.arange(size)] = found
            vectors[start[first][:, None] + np.arange(size * size)] = own.reshape(len(graphs), -1)
    return Spectra(values, start, vectors)


def _laplacians(client: ClientGraphs, graphs: np.ndarray) -> np.ndarray:
    """Return D - A of graphs of one size, float64[graphs, size, size]; loops cancel."""
    first = client.nodes[graphs]
    size = int(client.nodes[graphs[0] + 1] - first[0])
    rows = (first[:, None] + np.arange(size)).ravel()
    entries, own = entries_of(client.start, rows)
    node = np.repeat(np.arange(len(rows)), np.diff(own))
    dense = np.zeros((len(rows), size))
    dense[node, client.neighbours[entries] - np.repeat(np.repeat(first, size), np.diff(own))] = -1
    dense[np.arange(len(rows)), np.arange(len(rows)) % size] += np.diff(own)
    return dense.reshape(len(graphs), size, size)


@dataclass(frozen=True, kw_only=True)
class SpectralBatch(EdgeBatch):
    """A batch with its graphs' spectra.

    Attributes:
        eigenvalues: float64 [clients, slots], 0 for padding.
        sequences: the eigenvalues of each graph.
        pair_sizes: pairs of joined nodes of each client.
        products: from new eigenvalues to the pairs' entries in a filter, [clients * pair slots, clients * slots].
        both: from pairs to both directions of each edge, [edges, clients * pair slots].
    """

    eigenvalues: Tensor
    sequences: Sequences
    pair_sizes: tuple[int, ...]
    products: SparseMatrix
    both: SparseMatrix


@dataclass(frozen=True)
class SpectralBlock(EdgeBlock):
    """The packed clients' graphs, from which batches with spectra are made."""

    @cached_property
    def spectra(self) -> list[Spectra]:
        """Every client's spectra, made once for data that several seeds share."""
        made = {id(client): client for client in self.clients}
        found = {key: spectra_of(client) for key, client in made.items()}
        return [found[id(client)] for client in self.clients]

    def batch(self, graphs: Sequence[np.ndarray]) -> SpectralBatch:
        """Return a batch of the chosen graphs of each client."""
        parts = [EdgePart.of(client, own) for client, own in zip(self.clients, graphs, strict=True)]
        plain, pairs = self.edge_batch(parts), [part.targets < part.sources for part in parts]
        sizes = tuple(int(own.sum()) for own in pairs)
        rows = [
            spectra.products(part, part.targets[own], part.sources[own], plain.slots)
            for spectra, part, own in zip(self.spectra, parts, pairs, strict=True)
        ]
        values = [spectra.values[part.chosen.rows] for spectra, part in zip(self.spectra, parts, strict=True)]
        place = self.place
        return SpectralBatch(
            **vars(plain),
            eigenvalues=self._eigenvalues(values, plain.slots),
            sequences=sequences([p.chosen.nodes for p in parts], plain.slots, place.dtype, place.device),
            pair_sizes=sizes,
            products=self.matrix(rows, max(1, *sizes)),
            both=self._both(plain, sizes),
        )

    def _eigenvalues(self, parts: Sequence[np.ndarray], slots: int) -> Tensor:
        out = np.zeros((len(parts), slots))
        for row, values in zip(out, parts, strict=True):
            row[: len(values)] = values
        return torch.from_numpy(out).to(self.place.device)

    def _both(self, batch: EdgeBatch, sizes: Sequence[int]) -> SparseMatrix:
        lower, slots = batch.lower.cpu().numpy(), max(1, *sizes)
        pair = np.concatenate([np.arange(size) + place * slots for place, size in enumerate(sizes)])
        of_edge = np.empty(len(batch.edges), dtype=np.int64)
        of_edge[lower] = of_edge[batch.edges.reverse.cpu().numpy()[lower]] = pair
        start, shape = np.arange(len(of_edge) + 1), (len(of_edge), len(sizes) * slots)
        place = self.place
        return from_rows([start], [of_edge], [None], shape, dtype=place.dtype, device=place.device)
