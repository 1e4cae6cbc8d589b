"""FedGTA: topology-aware personalised averaging (Li et al., VLDB 2024).

Client, after its local steps: Y^0 = softmax of its model on its own graph, true labels at its training nodes,
    Y^l = alpha S Y^(l-1) + (1 - alpha) Y^0 (+ Y^0 at training nodes),  S = D^-1/2 (A + I) D^-1/2,  l = 1 .. k;
    H = sum_i d_i sum_c (1/e + y_ic log y_ic), its local smoothing confidence, y = softmax(Y^k / t);
    M, moments over the nodes of softmax(Y^k); both with true labels at training nodes.
Server: client k averages those with cos(M_k, M_l) > epsilon, weighed by H_l.
S is the client's own, whatever the backbone propagates with. docs/methods/fedgta.md tells where each line is from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from fedbench.methods._smoothing import Neighbourhoods, confidence, moments, propagated
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Trained
from fedbench.methods.weights import cosine
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings
from fedbench.tasks.node.block import NodeBlock

_KINDS = {"raw": ("raw",), "central": ("central",), "mixed": ("raw", "central")}


class FedGTASettings(Settings):
    """Settings of FedGTA; defaults are the released ones, for Cora where they differ by data set."""

    steps: int = Field(5, ge=0, description="k, propagations (released)")
    alpha: float = Field(0.5, ge=0, le=1, description="share of the neighbourhood in a propagation (released)")
    known_labels: bool = Field(
        True,
        description="training nodes keep their true labels in the propagation and in its result (released code). "
        "False: the model's soft labels everywhere",
    )
    temperature: float | None = Field(
        20.0, gt=0, description="t: M is made of softmax(Y^k), H of softmax(Y^k / t) (released); null: both of Y^k"
    )
    self_loops: bool = Field(False, description="count a self-loop in the degrees d_i (released code doesn't)")
    moments: Literal["raw", "central", "mixed"] = Field(
        "mixed", description="kinds of moments: both (released for Cora and CiteSeer), or raw only (PubMed)"
    )
    order: int = Field(6, ge=1, description="highest moment (released for Cora; CiteSeer 20, PubMed 13; OpenFGL 10)")
    epsilon: float = Field(
        0.5, ge=-1, lt=1, description="similarity above which a client is averaged (released for Cora; 0.6, 0.65)"
    )


class FedGTA(Method[FedGTASettings]):
    """FedGTA on every parameter the method shares: all."""

    Settings = FedGTASettings
    source = "Li et al., FedGTA: Topology-aware averaging for federated graph learning, VLDB 2024, arXiv 2401.11755"

    def memory(self, cell: Cell, data: Sequence[Sequence[Any]], shared: Parameters) -> Neighbourhoods:
        """Keep the clients' graphs, each its own."""
        return Neighbourhoods(data, self.settings.self_loops)

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload H, ``confidence`` [S, k], and M, ``moments`` [S, k, kinds * order * classes]."""
        neighbours = trained.memory.of(trained.clients, trained.block)
        start = torch.softmax(trained.network.forward(trained.packed, trained.block, None), dim=2)
        weighed, described = self._labels(start, neighbours.matrix, trained.block)
        found = {
            "confidence": confidence(weighed, neighbours.degrees),
            "moments": moments(described, trained.block, self.settings.order, _KINDS[self.settings.moments]),
        }
        return {name: value.unflatten(0, (-1, len(trained.clients))) for name, value in found.items()}

    def _labels(self, start: Tensor, matrix: Any, block: NodeBlock) -> tuple[Tensor, Tensor]:
        """Return the propagated labels that H and M are made of, [S * k, slots, classes]."""
        own = self.settings
        held = block.train_slots if own.known_labels else None
        if held is not None:
            start = _with_true_labels(start, block)
        labels = propagated(matrix, start, own.steps, own.alpha, held)
        if own.temperature is None:
            pair = (labels, labels)
        else:
            pair = (torch.softmax(labels / own.temperature, dim=2), torch.softmax(labels, dim=2))
        return pair if held is None else (_with_true_labels(pair[0], block), _with_true_labels(pair[1], block))

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W[k, l] = H_l / sum of the H that k accepts, for each l that k accepts; itself always."""
        surety = uploads["confidence"].clamp(min=torch.finfo(exchange.cell.dtype).tiny)  # all zero: without an edge
        chosen = self._accepted(uploads) * surety.unsqueeze(1)
        return chosen / chosen.sum(2, keepdim=True)

    def _accepted(self, uploads: Parameters) -> Tensor:
        """Return who averages whom, bool [S, K, K]."""
        similar = cosine(uploads["moments"]) > self.settings.epsilon
        return similar | torch.eye(similar.shape[1], dtype=torch.bool, device=similar.device)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return each client's confidence and the number of clients it averages, itself included, [S, K]."""
        return {"confidence": uploads["confidence"], "accepted": self._accepted(uploads).sum(2)}


def _with_true_labels(labels: Tensor, block: NodeBlock) -> Tensor:
    """Return labels [clients, slots, classes] with one-hot rows for training nodes."""
    true = torch.nn.functional.one_hot(block.labels[block.train_slots], block.classes).to(labels.dtype)
    return labels.reshape(-1, block.classes).index_copy(0, block.train_slots, true).view_as(labels)
