"""Spectra of a client's graphs: eigenpairs of L = D - A, and what batches of spectral networks are made of.

Node i of a graph stands for its i-th eigenvalue too, so a graph of n nodes needs n rows for both. Spectra are made once
a client, when its first batch is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.self_attention import Sequences, sequences
from fedbench.kernels.sparse import SparseMatrix, from_rows, paired
from fedbench.tasks.graph.arrays import ClientGraphs
from fedbench.tasks.graph.colours import Rows, entries_of
from fedbench.tasks.graph.edges import EdgeBatch, EdgeBlock, EdgePart
from fedbench.tasks.graph.filter_rows import FilterRows

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
        codes: what the network reads of the eigenvalues [clients, slots, width], 0 for padding.
        sequences: the eigenvalues of each graph.
        pair_sizes: pairs of joined nodes of each client.
        products: from new eigenvalues to the pairs' entries in a filter, [clients * pair slots, clients * slots].
        both: from pairs to both directions of each edge, [edges, clients * pair slots].
    """

    codes: Tensor
    sequences: Sequences
    pair_sizes: tuple[int, ...]
    products: SparseMatrix
    both: SparseMatrix


def as_they_are(eigenvalues: Tensor) -> Tensor:
    """Return eigenvalues [n] as codes of width 1."""
    return eigenvalues.unsqueeze(1)


@dataclass(frozen=True)
class ClientSpectra:
    """What batches take from a client's spectra: its eigenvalues' ``codes`` [n, width], and the filters' ``rows``."""

    codes: Tensor
    rows: FilterRows


@dataclass(frozen=True)
class SpectralBlock(EdgeBlock):
    """The packed clients' graphs, from which batches with spectra are made.

    ``encoded``: from eigenvalues float64[n] to what the network reads of them, [n, width]; eigenvalues never change.
    """

    encoded: Callable[[Tensor], Tensor] = as_they_are

    @cached_property
    def spectra(self) -> list[ClientSpectra]:
        """Every client's spectra, made once for data that several seeds share."""
        made = {id(client): client for client in self.clients}
        found = {key: self._of_client(client) for key, client in made.items()}
        return [found[id(client)] for client in self.clients]

    def _of_client(self, client: ClientGraphs) -> ClientSpectra:
        spectra, place = spectra_of(client), self.place
        codes = self.encoded(torch.from_numpy(spectra.values)).to(dtype=place.dtype, device=place.device)
        return ClientSpectra(codes, FilterRows.of(client, spectra.start, spectra.vectors, place.dtype))

    def batch(self, graphs: Sequence[np.ndarray]) -> SpectralBatch:
        """Return a batch of the chosen graphs of each client."""
        parts = [EdgePart.of(client, own) for client, own in zip(self.clients, graphs, strict=True)]
        plain, place = self.edge_batch(parts), self.place
        sizes = tuple(int((part.targets < part.sources).sum()) for part in parts)
        starts = [part.chosen.nodes for part in parts]
        return SpectralBatch(
            **vars(plain),
            codes=self._codes([part.chosen.rows for part in parts]),
            sequences=sequences(starts, plain.slots, place.dtype, place.device),
            pair_sizes=sizes,
            products=self._products(graphs, starts, (max(1, *sizes), plain.slots)),
            both=self._both(plain, sizes),
        )

    def _codes(self, rows: Sequence[np.ndarray]) -> Tensor:
        own = [each.codes.index_select(0, self.on(row)) for each, row in zip(self.spectra, rows, strict=True)]
        return torch.nn.utils.rnn.pad_sequence(own, batch_first=True) if len(own) > 1 else own[0].unsqueeze(0)

    def _products(
        self, graphs: Sequence[np.ndarray], starts: Sequence[np.ndarray], slots: tuple[int, int]
    ) -> SparseMatrix:
        chosen = zip(self.spectra, graphs, starts, strict=True)
        rows, turned = zip(*(each.rows.of_graphs(own, start, slots) for each, own, start in chosen), strict=True)
        return paired(self._one_way(rows, slots[0]), self._one_way(turned, slots[1]))

    def _one_way(self, parts: Sequence[Rows], rows: int) -> SparseMatrix:
        """Return a matrix that knows no transpose yet."""
        made = self.matrix(parts, rows, symmetric=True)
        return SparseMatrix(made.indptr, made.indices, made.values, made.shape)

    def _both(self, batch: EdgeBatch, sizes: Sequence[int]) -> SparseMatrix:
        lower, slots = batch.lower.cpu().numpy(), max(1, *sizes)
        pair = np.concatenate([np.arange(size) + place * slots for place, size in enumerate(sizes)])
        of_edge = np.empty(len(batch.edges), dtype=np.int64)
        of_edge[lower] = of_edge[batch.edges.reverse.cpu().numpy()[lower]] = pair
        start, shape = np.arange(len(of_edge) + 1), (len(of_edge), len(sizes) * slots)
        place = self.place
        return from_rows([start], [of_edge], [None], shape, dtype=place.dtype, device=place.device)
