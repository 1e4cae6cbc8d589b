"""FedPerGNN: graphs expanded by other clients' users, and private gradients (Wu et al., Nature Communications 2022).

Expansion (algorithm 2): a third party matches encrypted items and passes on users' vectors (`_fedpergnn_expansion`).
Network: graph attention over the expanded graph (`_fedpergnn_network`); pairs are learnt by BPR, not ratings by MSE.
Privacy (equation 1, section 3.3): g <- clip(g, delta) + Laplace(0, lambda) for all that leaves, and gradients of
pseudo-items that look like real ones (`_fedpergnn_privacy`).
Made for clients of one user; docs/methods/fedpergnn.md lists what is adapted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from pydantic import Field, model_validator
from torch import Tensor
from torch.nn.functional import pad

from fedbench import seeds as streams
from fedbench.methods._fedpergnn_expansion import ExpandedPairs, expanded
from fedbench.methods._fedpergnn_network import ExpandedBlock, ExpandedGAT
from fedbench.methods._fedpergnn_privacy import budget, leaving, privatised, pseudo_gradients
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Preparation, Traffic, Trained
from fedbench.methods.weights import uniform_rows
from fedbench.models.parameters import Parameters
from fedbench.models.vectors import ITEMS, USERS
from fedbench.settings import Settings
from fedbench.tasks.rec.arrays import RecProblem
from fedbench.tasks.rec.block import RecBlock

_VECTORS = "user_vectors"


class FedPerGNNSettings(Settings):
    """Settings of FedPerGNN; defaults are the paper's and its code's, where these exist."""

    neighbours: int = Field(100, ge=0, description="outside users of an item at most; 0: no expansion. Code: 100")
    expanded_after: int = Field(
        2, ge=1, description="round after which users' vectors are first exchanged (paper: 2 epochs)"
    )
    pseudo_items: int = Field(1000, ge=0, description="rows uploaded beside a client's own at most; code: 1,000")
    clip: float | None = Field(0.1, gt=0, description="delta, gradients are clipped to +-delta; null: not. Paper: 0.1")
    noise: float = Field(
        0.2, ge=0, description="lambda, scale of the Laplace noise; 0: none. Paper: budget 2 delta / lambda = 1"
    )
    id_bytes: int = Field(
        256, ge=0, description="bytes of an encrypted item (code: a 2048-bit RSA signature); what is computed has 8"
    )

    @model_validator(mode="after")
    def _bounded(self) -> FedPerGNNSettings:
        if self.noise and self.clip is None:
            raise ValueError("noise needs clip: without a bound on the gradient it gives no privacy budget")
        return self


@dataclass
class Party:
    """What the third party holds, and where the run stands.

    ``data``: the clients, a list a seed. ``held`` [S, K, b, d]: vectors sent last, None before. ``round`` from 1;
    ``steps``: local steps of the round so far, of each client.
    """

    seeds: tuple[int, ...]
    data: Sequence[Sequence[ExpandedPairs]]
    steps: list[int]
    held: Tensor | None = None
    round: int = 1

    @property
    def most_sent(self) -> int:
        """Vectors that a client sends at most."""
        return max(len(client.sent) for of_seed in self.data for client in of_seed)


class FedPerGNN(Method[FedPerGNNSettings]):
    """FedPerGNN for clients of many users."""

    Settings = FedPerGNNSettings
    source = (
        "Wu et al., A federated graph neural network framework for privacy-preserving personalization, Nature "
        "Communications 13, 2022"
    )

    def prepare(self, problem: RecProblem, cell: Cell) -> Preparation:
        """Expand the clients' graphs; each client sent an encrypted item for each of its training pairs."""
        own = self.settings
        data = [expanded(problem.client_data, own.neighbours, own.pseudo_items, seed) for seed in cell.seeds]
        pairs = sum(client.train.shape[1] for client in problem.client_data)
        ids = Traffic(up=own.id_bytes * pairs if own.neighbours else 0)
        return Preparation(data, ids, [self._stated(of_seed, cell) for of_seed in data])

    def _stated(self, clients: Sequence[ExpandedPairs], cell: Cell) -> dict[str, Any]:
        """Return what was added to graphs, and the privacy budget, for the record."""
        found: dict[str, Any] = {
            "outside_users": sum(client.outside for client in clients),
            "outside_links": sum(client.links.shape[1] for client in clients),
            "pseudo_items": sum(len(client.pseudo) for client in clients),
        }
        if self.settings.clip is None or not self.settings.noise:
            return found
        return found | budget(
            self.settings.clip, self.settings.noise, clients, self.network(cell).parameters(), self.training
        )

    def network(self, cell: Cell, client: int = 0) -> ExpandedGAT:  # type: ignore[override]
        """Return graph attention; the protocol's backbone has no say."""
        return ExpandedGAT(cell.shapes[client].features, cell.shapes[client].classes, self.training.model)

    def memory(self, cell: Cell, data: Sequence[Sequence[ExpandedPairs]], shared: Parameters) -> Party:
        """Return the third party, who has received nothing yet."""
        return Party(cell.seeds, data, [0] * cell.clients)

    def seen(self, block: RecBlock, clients: range, memory: Party) -> RecBlock:
        """Return the clients with the vectors that the third party passed on."""
        if memory.held is None:
            return block
        everyone: Sequence[ExpandedPairs] = block.clients  # type: ignore[assignment]
        vectors = [
            memory.held[place // len(clients)][client.senders, client.places] for place, client in enumerate(everyone)
        ]
        most = max(map(len, vectors))
        received = torch.stack([pad(each, (0, 0, 0, most - len(each))) for each in vectors])
        return ExpandedBlock(block.clients, block.place, block.frequencies, block.kept, received=received)

    def corrected(
        self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: Party
    ) -> dict[str, Tensor]:
        """Return gradients with those of pseudo-items, then clip(g, delta) + Laplace(0, lambda) of all that leaves."""
        step = memory.steps[clients.start]
        for client in clients:
            memory.steps[client] += 1
        for seed, of_seed, row in zip(memory.seeds, memory.data, range(len(memory.seeds)), strict=True):
            for place, client in enumerate(clients):
                own = {name: stack[row, place] for name, stack in gradients.items()}
                self._hide(own, of_seed[client], (seed, client, memory.round, step))
        return gradients

    def _hide(self, own: dict[str, Tensor], client: ExpandedPairs, at: tuple[int, int, int, int]) -> None:
        """Change one client's gradients in place; ``at``: seed, client, round, step."""
        if len(client.pseudo):
            random = streams.generator("fedpergnn pseudo-gradients", *at)
            own[ITEMS][client.pseudo] = pseudo_gradients(own[ITEMS][client.own], len(client.pseudo), random)
        if self.settings.clip is None:
            return
        some = leaving(client)
        for name, values in own.items():
            random = streams.generator("fedpergnn noise", *at, name)
            rows = some.get(name, slice(None))
            values[rows] = privatised(values[rows], self.settings.clip, self.settings.noise, random)

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload the vectors of users that others asked for to the third party, [S, k, b, d]."""
        party: Party = trained.memory
        if party.round < self.settings.expanded_after or not party.most_sent:
            return {}
        sent = [[of_seed[client].sent for client in trained.clients] for of_seed in party.data]
        tables = trained.local[USERS]
        chosen = [
            torch.stack([_padded(table[rows], party.most_sent) for table, rows in zip(*pair, strict=True)])
            for pair in zip(tables, sent, strict=True)
        ]
        return {_VECTORS: torch.stack(chosen)}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Hand the vectors to the third party, and return the plain average."""
        party: Party = exchange.memory
        party.held = uploads.get(_VECTORS, party.held)
        party.round, party.steps = exchange.round + 1, [0] * len(party.steps)
        return uniform_rows(exchange.cell)

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: weights both ways, sent users' vectors up, outside users' down; no padding."""
        plain, party = super().traffic(shared, {}, exchange), exchange.memory
        if _VECTORS not in signals:
            return plain
        vector, everyone = 4 * signals[_VECTORS].shape[3], [client for of_seed in party.data for client in of_seed]
        up, down = (vector * sum(sizes) // len(party.data) for sizes in _counts(everyone))
        return Traffic(plain.up + up, plain.down + down)


def _counts(clients: Sequence[ExpandedPairs]) -> tuple[list[int], list[int]]:
    return [len(client.sent) for client in clients], [client.outside for client in clients]


def _padded(rows: Tensor, count: int) -> Tensor:
    return pad(rows, (0, 0, 0, count - len(rows)))
