"""NeighGen's losses: predicted counts, generated features, classification on the mended graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from fedbench.kernels.sparse import SparseMatrix
from fedbench.neighgen.cross_client import Others
from fedbench.neighgen.draws import Draws
from fedbench.neighgen.network import NeighGen, whole
from fedbench.neighgen.problem import Problem

Losses = dict[str, Tensor]


def local_losses(net: NeighGen, problem: Problem, draws: Draws) -> Losses:
    """Return the terms of the local phase: lambda^d L^d, lambda^f L^f and lambda^c L^c."""
    own = problem.settings
    z = net.encode(problem.kept, problem.graph, draws)
    predicted = net.count(z)
    counts = whole(predicted, own)
    generated = net.generate(z[counts > 0], counts[counts > 0], draws, drop=True)
    pull = problem.local_pull(generated.detach(), problem.wanted(counts))
    logits = net.classify(problem.kept, generated, problem.mended(counts), draws)
    return {
        "count": own.count_weight * _count_loss(predicted, problem),
        "feature": own.feature_weight * problem.feature_scale() * pull.of(generated),
        "class": own.class_weight * _class_loss(logits, problem),
    }


@dataclass(frozen=True)
class Fixed:
    """What stays as it is in the federated phase, where encoder, dGen and classifier are frozen and drop nothing.

    ``z`` of the nodes with generated neighbours, ``counts`` int64[size], ``mended`` D^-1 (A + I) of the mended graph.
    """

    z: Tensor
    counts: Tensor
    mended: SparseMatrix

    @classmethod
    def of(cls, net: NeighGen, problem: Problem) -> Fixed:
        """Compute it with the parameters as they are."""
        with torch.no_grad():
            z = net.encode(problem.kept, problem.graph, None)
            counts = whole(net.count(z), problem.settings)
        return cls(z[counts > 0], counts, problem.mended(counts))


def federated_losses(
    net: NeighGen, problem: Problem, fixed: Fixed, others: Others, clients: int, draws: Draws
) -> Losses:
    """Return the terms that fGen is trained on in the federated phase, each divided by M = ``clients``.

    lambda^f L^f, lambda^f alpha times the cross-client term, lambda^c L^c; L^d doesn't depend on fGen.
    """
    own, scale = problem.settings, problem.settings.feature_weight * problem.feature_scale() / clients
    generated = net.generate(fixed.z, fixed.counts[fixed.counts > 0], draws, drop=True)
    wanted = problem.wanted(fixed.counts)
    losses = {"feature": scale * problem.local_pull(generated.detach(), wanted).of(generated)}
    if own.cross_client_weight > 0:
        pull = others.pull(generated.detach(), wanted, draws)
        losses["cross_client"] = own.cross_client_weight * scale * pull.of(generated)
    logits = net.classify(problem.kept, generated, fixed.mended, None)
    return losses | {"class": own.class_weight / clients * _class_loss(logits, problem)}


def _count_loss(predicted: Tensor, problem: Problem) -> Tensor:
    """L^d: mean smooth-L1 distance of n~_v and n_v over the nodes of the loss."""
    true = problem.missing_counts.to(predicted.dtype)
    return functional.smooth_l1_loss(predicted[problem.in_loss], true[problem.in_loss])


def _class_loss(logits: Tensor, problem: Problem) -> Tensor:
    """L^c: mean cross-entropy; 0 for a client without a labelled node."""
    if len(problem.labels) == 0:
        return logits.sum() * 0.0
    return functional.cross_entropy(logits[problem.label_nodes], problem.labels)
