"""One client's part of NeighGen's training, without its parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fedbench.kernels.sparse import SparseMatrix
from fedbench.neighgen.cross_client import Wanted
from fedbench.neighgen.impair import Impaired
from fedbench.neighgen.network import places
from fedbench.neighgen.operators import Features, attach, features, row_normalised
from fedbench.neighgen.pull import Pull, add_nearest_of_pairs, pairs
from fedbench.neighgen.settings import NeighGenSettings
from fedbench.tasks.node.arrays import ClientGraph


@dataclass(frozen=True)
class Problem:
    """An impaired graph with what has to be predicted, as tensors.

    ``own`` are the features of all nodes of the client (its hidden ones among them), ``kept`` those of the kept ones;
    ``graph`` D^-1 (A + I) of the impaired graph; ``labels`` int64 of ``label_nodes``; ``in_loss`` bool[size].
    """

    impaired: Impaired
    settings: NeighGenSettings
    own: Features
    kept: SparseMatrix
    graph: SparseMatrix
    missing: Tensor
    missing_start: Tensor
    in_loss: Tensor
    label_nodes: Tensor
    labels: Tensor

    @property
    def missing_counts(self) -> Tensor:
        """n_v, int64[size]."""
        return self.missing_start.diff()

    def wanted(self, counts: Tensor) -> Wanted:
        """Return the generated neighbours of nodes in the loss, for int64[size] counts."""
        node = places(counts, self.settings.predicted_neighbours)
        rows = torch.nonzero(self.in_loss[node]).squeeze(1)
        return Wanted(rows, node[rows], self.missing_counts[node[rows]])

    def local_pull(self, generated: Tensor, wanted: Wanted) -> Pull:
        """Return sum over v, p < n~_v of min over hidden neighbours u of v of ||x~_v^p - x_u||^2 (paper's L^f).

        Generated neighbours of nodes without a hidden neighbour have nothing to be near to, and add nothing.
        """
        total = Pull.none(generated)
        rows, candidate = pairs(wanted.rows, self.missing_start[wanted.nodes], self.missing_start[wanted.nodes + 1])
        add_nearest_of_pairs(total, generated, rows, self.own, self.missing[candidate])
        return total

    def mended(self, counts: Tensor) -> SparseMatrix:
        """Return D^-1 (A + I) of the impaired graph with its generated neighbours."""
        owners = places(counts, self.settings.predicted_neighbours).cpu().numpy()
        edges = attach(self.impaired.edges, self.impaired.size, owners)
        values = self.kept.numbers
        return row_normalised(edges, self.impaired.size + len(owners), values.dtype, values.device)

    def feature_scale(self) -> float:
        """Return what the sum over nodes is divided by: their number, and more with ``feature_distance: mean``."""
        nodes = max(int(self.in_loss.sum()), 1)
        each = {"sum": 1, "mean": self.settings.predicted_neighbours * self.kept.shape[1]}
        return 1.0 / (nodes * each[self.settings.feature_distance])


def problem(graph: ClientGraph, own: Features, impaired: Impaired, settings: NeighGenSettings) -> Problem:
    """Put an impaired graph on the device that its client's features ``own`` are on."""
    dtype, device = own.squares.dtype, own.squares.device
    in_loss = np.zeros(impaired.size, dtype=bool)
    in_loss[impaired.loss_nodes] = True
    labels = graph.labels[impaired.kept[impaired.label_nodes]].astype(np.int64)
    return Problem(
        impaired,
        settings,
        own,
        features(graph, own.matrix.shape[1], dtype, device, impaired.kept).matrix,
        row_normalised(impaired.edges, impaired.size, dtype, device),
        *(torch.from_numpy(a).to(device) for a in (impaired.missing, impaired.missing_start, in_loss)),
        *(torch.from_numpy(a).to(device) for a in (impaired.label_nodes, labels)),
    )
