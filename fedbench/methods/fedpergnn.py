"""FedPerGNN: graphs expanded by other clients' users, and private gradients (Wu et al., Nature Communications 2022).

Expansion (algorithm 2): a third party matches encrypted items and passes on users' vectors (`_fedpergnn_expansion`).
Network: graph attention over the expanded graph (`_fedpergnn_network`); pairs are learnt by BPR, not ratings by MSE.
Privacy (equation 1, section 3.3): g <- clip(g, delta) + Laplace(0, lambda) for all that leaves, and gradients of
pseudo-items that look like real ones (`_fedpergnn_privacy`).
Made for clients of one user; docs/methods/fedpergnn.md lists what is adapted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor
from torch.nn.functional import pad

from fedbench import seeds as streams
from fedbench.methods._fedpergnn_expansion import ExpandedPairs, expanded
from fedbench.methods._fedpergnn_network import ExpandedBlock, ExpandedGAT
from fedbench.methods._fedpergnn_privacy import budget, privatised, pseudo_gradients, scale_of
from fedbench.methods._item_tables import shared_items
from fedbench.methods._pair_losses import times_of_users
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, LocalStep, Preparation, Traffic, Trained
from fedbench.methods.weights import uniform_rows
from fedbench.models.parameters import Parameters
from fedbench.models.vectors import ITEMS, USERS
from fedbench.settings import Settings
from fedbench.tasks.rec.arrays import RecProblem
from fedbench.tasks.rec.block import RecBlock

_VECTORS = "user_vectors"
INSTEAD = "encrypted items, none of which finds a match, and the network's noisy weights"
STAYS, LEAVES, PSEUDO = range(3)


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
    noise_of: Literal["users", "client"] = Field(
        "users",
        description="users: every user of a batch adds its own noise, as in the paper, so that of their mean has the "
        "scale lambda / sqrt(users) (inferred; the code divides by the root of its batch of users); client: the mean "
        "gets lambda itself",
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
    """What the third party holds, what of a client's tables leaves it, and where the run stands.

    ``rows`` uint8 [S, K, items]: `STAYS`, `LEAVES` or `PSEUDO`, for every row of a client's item table. ``sent`` bool
    [S, K, users]: users whose vectors others asked for. ``vectors``, ``outside``: how many these are, and how many
    outside users clients have, over a seed's clients, in the mean. ``held`` [S, K, b, d]: vectors sent last; ``known``:
    whether any were. ``round`` from 1; ``steps``: local steps of the round so far, of each client. ``users`` [S * k]:
    how many users the batch being learnt has, of each packed client.
    """

    seeds: list[int]
    rows: Tensor
    sent: Tensor
    vectors: int
    outside: int
    held: Tensor
    steps: list[int]
    most: list[list[float]]
    known: bool = False
    round: int = 1
    users: list[float] = field(default_factory=list)


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
        known = shared_items(problem.client_data, INSTEAD)
        return Preparation(data, ids, [known | self._stated(of_seed, cell) for of_seed in data])

    def _stated(self, clients: Sequence[ExpandedPairs], cell: Cell) -> dict[str, Any]:
        """Return what was added to graphs, and the privacy budget, for the record."""
        found: dict[str, Any] = {
            "outside_users": sum(client.outside for client in clients),
            "outside_links": sum(client.links.shape[1] for client in clients),
            "pseudo_items": sum(len(client.pseudo) for client in clients),
        }
        own = self.settings
        if own.clip is None or not own.noise:
            return found
        noise, declared = (own.noise, own.noise_of), self.network(cell).parameters()
        return found | budget(own.clip, noise, clients, declared, self.training)

    def network(self, cell: Cell, client: int = 0) -> ExpandedGAT:  # type: ignore[override]
        """Return graph attention; the protocol's backbone has no say."""
        return ExpandedGAT(cell.shapes[client].features, cell.shapes[client].classes, self.training.model)

    def memory(self, cell: Cell, data: Sequence[Sequence[ExpandedPairs]], shared: Parameters) -> Party:
        """Return the third party, who has received nothing yet."""
        everyone = [client for of_seed in data for client in of_seed]
        rows, sent = _stacked([row_kinds(client) for client in everyone], cell), _stacked(_asked(everyone), cell)
        most, seeds, width = int(sent.sum(2).max()), len(cell.seeds), self.training.model.hidden_widths[0]
        held = torch.zeros(seeds, cell.clients, most, width, dtype=cell.dtype, device=cell.device)
        outside = sum(client.outside for client in everyone) // seeds
        unknown = [[0.0] * cell.clients for _ in cell.seeds]
        return Party(list(cell.seeds), rows, sent, int(sent.sum()) // seeds, outside, held, [0] * cell.clients, unknown)

    def seen(self, block: RecBlock, clients: range, memory: Party) -> RecBlock:
        """Return the clients with the vectors that the third party passed on."""
        if not memory.known:
            return block
        everyone: Sequence[ExpandedPairs] = block.clients  # type: ignore[assignment]
        vectors = [
            memory.held[place // len(clients)][client.senders, client.places] for place, client in enumerate(everyone)
        ]
        received = torch.stack([_padded(each, max(map(len, vectors))) for each in vectors])
        return ExpandedBlock(block.clients, block.place, block.frequencies, block.kept, received=received)

    def objective(self, training: LocalStep) -> Tensor:
        """Return each client's BPR loss on its batch, [S * k], and count the batch's users."""
        training.memory.users = times_of_users(training.block, "users").tolist()
        return super().objective(training)

    def corrected(
        self, gradients: dict[str, Tensor], active: Tensor, clients: range, memory: Party
    ) -> dict[str, Tensor]:
        """Return gradients with those of pseudo-items, then clip(g, delta) + Laplace(0, lambda) of all that leaves."""
        for row, place in active.nonzero().tolist():
            seed, client = memory.seeds[row], clients[place]
            step, users = memory.steps[client], memory.users[row * len(clients) + place]
            memory.most[row][client] = max(users, memory.most[row][client] if step else 0.0)
            own = {name: stack[row, place] for name, stack in gradients.items()}
            leaving = memory.rows[row, client], memory.sent[row, client]
            scale = scale_of(self.settings.noise, users, self.settings.noise_of)
            self._hide(own, *leaving, scale, (seed, client, memory.round, step))
        for place, steps in enumerate(active.any(0).tolist()):
            memory.steps[clients[place]] += steps
        return gradients

    def _hide(
        self, own: dict[str, Tensor], rows: Tensor, sent: Tensor, scale: float, at: tuple[int, int, int, int]
    ) -> None:
        """Change one client's gradients in place; ``at``: seed, client, round, step."""
        rows, sent = rows[: len(own[ITEMS])], sent[: len(own[USERS])]
        pseudo = rows == PSEUDO
        if bool(pseudo.any()):
            random = streams.generator("fedpergnn pseudo-gradients", *at)
            own[ITEMS][pseudo] = pseudo_gradients(own[ITEMS][~pseudo], int(pseudo.sum()), random)
        if self.settings.clip is None:
            return
        some = {ITEMS: rows != STAYS, USERS: sent}
        for name, values in own.items():
            random = streams.generator("fedpergnn noise", *at, name)
            chosen = some.get(name, slice(None))
            values[chosen] = privatised(values[chosen], self.settings.clip, scale, random)

    def signals(self, trained: Trained) -> dict[str, Tensor]:
        """Upload the vectors of users that others asked for to the third party, [S, k, b, d]."""
        party: Party = trained.memory
        most = party.held.shape[2]
        if party.round < self.settings.expanded_after or not most:
            return {}
        tables = trained.local[USERS]
        sent = party.sent[:, trained.clients.start : trained.clients.stop, : tables.shape[2]]
        chosen = [
            _padded(table[rows], most) for table, rows in zip(tables.flatten(0, 1), sent.flatten(0, 1), strict=True)
        ]
        return {_VECTORS: torch.stack(chosen).unflatten(0, tables.shape[:2])}

    def mixing(self, uploads: Parameters, exchange: Exchange) -> Tensor:
        """Hand the vectors to the third party, and return the plain average."""
        party: Party = exchange.memory
        if _VECTORS in uploads:
            party.held, party.known = uploads[_VECTORS], True
        party.round, party.steps = exchange.round + 1, [0] * len(party.steps)
        return uniform_rows(exchange.cell)

    def diagnostics(self, uploads: Parameters, exchange: Exchange) -> dict[str, Tensor]:
        """Return the scale of the noise that each client added in the round, the least: that of its largest batch."""
        own, most = self.settings, exchange.memory.most
        if own.clip is None or not own.noise:
            return {}
        scales = [[scale_of(own.noise, max(users, 1.0), own.noise_of) for users in of_seed] for of_seed in most]
        return {"noise_scale": torch.tensor(scales, dtype=torch.float64)}

    def traffic(self, shared: Parameters, signals: Parameters, exchange: Exchange) -> Traffic:
        """Return the bytes of a round: weights both ways, sent users' vectors up, outside users' down; no padding."""
        plain, party = super().traffic(shared, {}, exchange), exchange.memory
        if _VECTORS not in signals:
            return plain
        vector = 4 * signals[_VECTORS].shape[3]
        return Traffic(plain.up + vector * party.vectors, plain.down + vector * party.outside)


def row_kinds(client: ExpandedPairs) -> np.ndarray:
    """Return what each row of a client's item table is, uint8."""
    rows = np.where(client.leaving, LEAVES, STAYS).astype(np.uint8)
    rows[client.pseudo] = PSEUDO
    return rows


def _asked(clients: Sequence[ExpandedPairs]) -> list[np.ndarray]:
    """Return which of each client's users others asked for, bool."""
    return [np.isin(np.arange(client.users), client.sent) for client in clients]


def _stacked(values: Sequence[np.ndarray], cell: Cell) -> Tensor:
    """Return arrays of all seeds' clients as one tensor [S, K, longest], zero behind each."""
    longest = max(map(len, values))
    stack = np.stack([np.pad(each, (0, longest - len(each))) for each in values])
    return torch.from_numpy(stack).view(len(cell.seeds), cell.clients, longest).to(cell.device)


def _padded(rows: Tensor, count: int) -> Tensor:
    return pad(rows, (0, 0, 0, count - len(rows)))
