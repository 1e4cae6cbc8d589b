"""FedHGNN: users publish perturbed interactions, meta-paths over them feed a HAN (Yan et al., WWW 2024).

Before round 1 each client perturbs its users' rows (`_fedhgnn_perturbation`) and publishes them; the server answers
with meta-path neighbours (`_fedhgnn_paths`). In a round clients train a HAN (`fedbench.models.han`) on their true
pairs, and the server averages its weights and shared items' rows by the number of training pairs.
Made for clients of one user; docs/methods/fedhgnn.md lists what is adapted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field
from torch import Tensor

from fedbench import seeds as streams
from fedbench.methods._fedhgnn_paths import with_paths
from fedbench.methods._fedhgnn_perturbation import item_groups, perturbed
from fedbench.methods._item_tables import shared_items
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Preparation, Traffic
from fedbench.methods.weights import rows_by
from fedbench.models.han import HAN
from fedbench.models.parameters import Parameters
from fedbench.settings import Settings
from fedbench.tasks.rec.arrays import ClientPairs, RecProblem

INSTEAD = "perturbed pairs with the server, meta-path neighbours from it, and the network's weights"
_PAIR = 8  # bytes, two numbers
_NEIGHBOUR = 8


class FedHGNNSettings(Settings):
    """Settings of FedHGNN; defaults are the released ones, where these exist."""

    group_budget: float = Field(1.0, gt=0, description="eps_1, of all of a user's draws of groups; released: 1")
    pair_budget: float = Field(1.0, gt=0, description="eps_2, of every bit inside the drawn groups; released: 1")
    perturb: bool = Field(True, description="false: true pairs are published, as a control without privacy")
    groups: int = Field(20, ge=1, description="item groups of a client; released: 20")
    vectors: int = Field(
        32, ge=1, description="singular vectors that items are grouped by; inferred, there is no side information here"
    )
    neighbours: int = Field(
        100, ge=1, description="over a meta-path at most; inferred: all of them would be as many as pairs of users"
    )
    heads: int = Field(2, ge=1, description="of the attention; released: 2")
    hidden: int = Field(8, ge=1, description="width of a head; released: 8")
    weights: Literal["train_nodes", "uniform"] = Field(
        "train_nodes", description="client weights in the average; released: by count"
    )


class FedHGNN(Method[FedHGNNSettings]):
    """FedHGNN for clients of many users."""

    Settings = FedHGNNSettings
    source = "Yan et al., Federated heterogeneous graph neural network for privacy-preserving recommendation, WWW 2024"

    def prepare(self, problem: RecProblem, cell: Cell) -> Preparation:
        """Return the clients with their meta-path neighbours: perturbed pairs went up, neighbours came down."""
        known = [self._of_seed(problem.client_data, seed) for seed in cell.seeds]
        data, traffic, diagnostics = zip(*known, strict=True)
        up, down = (sum(getattr(each, way) for each in traffic) // len(traffic) for way in ("up", "down"))
        return Preparation(data, Traffic(up, down), diagnostics)

    def _of_seed(
        self, clients: Sequence[ClientPairs], seed: int
    ) -> tuple[Sequence[ClientPairs], Traffic, dict[str, Any]]:
        published = [self._published(client, seed, k) for k, client in enumerate(clients)]
        data = with_paths(clients, published, self.settings.neighbours)
        pairs = sum(own.shape[1] for own in published)
        paths = sum(client.user_paths.nnz + client.item_paths.nnz for client in data)
        return data, Traffic(_PAIR * pairs, _NEIGHBOUR * paths), self._stated(clients, published)

    def _published(self, client: ClientPairs, seed: int, k: int) -> np.ndarray:
        """Return what a client's users publish, int64[2, m]."""
        if not self.settings.perturb:
            return client.train
        groups = item_groups(client.taken, self.settings.groups, self.settings.vectors)
        budgets = self.settings.group_budget, self.settings.pair_budget
        return perturbed(client.taken, groups, budgets, streams.generator("fedhgnn published", seed, k))

    def _stated(self, clients: Sequence[ClientPairs], published: Sequence[np.ndarray]) -> dict[str, Any]:
        """Return what is shared, how much of the truth is published, and the budgets, for the record."""
        true = sum(_both(client, own) for client, own in zip(clients, published, strict=True))
        pairs = sum(client.train.shape[1] for client in clients)
        found = shared_items(clients, INSTEAD) | {
            "pairs": pairs,
            "published_pairs": sum(own.shape[1] for own in published),
            "true_pairs_published": true,
        }
        if self.settings.perturb:
            found |= {
                "epsilon_of_the_groups_of_a_user": self.settings.group_budget,
                "epsilon_of_a_pair": self.settings.pair_budget,
                "items_of_a_user_at_most": max(int(np.diff(client.taken.indptr).max(initial=0)) for client in clients),
            }
        return found

    def network(self, cell: Cell, client: int = 0) -> HAN:  # type: ignore[override]
        """Return the HAN; the protocol's backbone has no say."""
        shape = cell.shapes[client]
        return HAN(shape.features, shape.classes, self.training.model, self.settings.heads, self.settings.hidden)

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Return W whose rows are the clients' shares of the training pairs."""
        return rows_by(self.settings.weights, exchange.cell)


def _both(client: ClientPairs, published: np.ndarray) -> int:
    """Return how many published pairs are training pairs."""
    true, own = (pairs[0] * client.items + pairs[1] for pairs in (client.train, published))
    return int(np.isin(own, true).sum())
