"""Hides some of a client's nodes: what is left is the impaired graph, what was cut NeighGen learns to predict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbench import seeds as streams
from fedbench.neighgen.settings import NeighGenSettings
from fedbench.tasks.node.arrays import SPLIT_CODES, ClientGraph

_TRAIN, _TEST, _REST = 0, 1, 2


@dataclass(frozen=True)
class Impaired:
    """A client's graph without its hidden nodes. Kept nodes are numbered anew, 0 .. size-1, in their old order.

    ``kept`` int64[size] old numbers; ``edges`` int64[2, E] among kept nodes, new numbers; ``missing_start``
    int64[size + 1] and ``missing`` int64: node v's hidden neighbours are ``missing[missing_start[v] :
    missing_start[v + 1]]``, old numbers; ``loss_nodes``, ``label_nodes``: kept nodes, new numbers, that the count and
    feature losses, and the classification loss, go over.
    """

    kept: np.ndarray
    edges: np.ndarray
    missing_start: np.ndarray
    missing: np.ndarray
    loss_nodes: np.ndarray
    label_nodes: np.ndarray

    @property
    def size(self) -> int:
        """Kept nodes."""
        return len(self.kept)

    @property
    def missing_counts(self) -> np.ndarray:
        """n_v, the true number of hidden neighbours, int64[size]."""
        return np.diff(self.missing_start)


def impair(graph: ClientGraph, settings: NeighGenSettings, seed: int, client: int) -> Impaired:
    """Hide nodes of a client's graph, drawn from the stream of (seed, client)."""
    random = streams.generator("neighgen hidden nodes", seed, client)
    part = generator_split(graph.labels, random) if settings.split == "generator" else None
    candidates = np.arange(graph.size) if part is None else np.flatnonzero(part == _REST)
    hidden = random.choice(candidates, int(len(candidates) * settings.hidden_portion), replace=False)
    return _without(graph, hidden, part, settings.labels)


def generator_split(labels: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return 0 (60%), 1 (20%) or 2 (20%) a node, stratified by label: each run of five alike is split 3, 1, 1."""
    order = np.lexsort((random.random(len(labels)), labels))
    part = np.empty(len(labels), dtype=np.int64)
    part[order] = np.array([_TRAIN, _TEST, _TRAIN, _REST, _TRAIN])[np.arange(len(labels)) % 5]
    return part


def _without(graph: ClientGraph, hidden: np.ndarray, part: np.ndarray | None, labels: str) -> Impaired:
    is_kept = np.ones(graph.size, dtype=bool)
    is_kept[hidden] = False
    kept, new = np.flatnonzero(is_kept), np.cumsum(is_kept) - 1
    source, target = graph.edges
    inside, cut = is_kept[source] & is_kept[target], is_kept[source] & ~is_kept[target]
    owners, missing = new[source[cut]], target[cut]
    counts = np.bincount(owners, minlength=len(kept))
    in_loss = np.ones(len(kept), dtype=bool) if part is None else part[kept] == _TRAIN
    has_label = in_loss if labels == "generator" else in_loss & (graph.split[kept] == SPLIT_CODES["train"])
    return Impaired(
        kept=kept,
        edges=new[graph.edges[:, inside]],
        missing_start=np.concatenate([[0], np.cumsum(counts)]),
        missing=missing[np.argsort(owners, kind="stable")],
        loss_nodes=np.flatnonzero(in_loss),
        label_nodes=np.flatnonzero(has_label),
    )
