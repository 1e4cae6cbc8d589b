"""APPLE's state: everybody's core models, as sent and as trained, and the relationships between clients."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fedbench.methods.weights import stack_shape
from fedbench.models.parameters import Parameters


@dataclass(frozen=True)
class Cores:
    """What server and clients keep. All is changed in place.

    Attributes:
        sent: core models as clients downloaded them, name to [S, K, ...].
        trained: as clients have trained them since.
        start: p^0, [K].
        shift: p_k - p^0, [S, K, K].
        velocity: of the descent of p in this round, [S, K, K].
    """

    sent: dict[str, Tensor]
    trained: dict[str, Tensor]
    start: Tensor
    shift: Tensor
    velocity: Tensor

    @classmethod
    def of(cls, shared: Parameters, start: Tensor) -> Cores:
        """Return the state before round 1: all clients' models are cores, all relationships ``start``."""
        seeds, clients = stack_shape(shared)
        shift = start.new_zeros(seeds, clients, clients)
        sent, trained = ({name: stack.clone() for name, stack in shared.items()} for _ in range(2))
        return cls(sent, trained, start, shift, torch.zeros_like(shift))

    @property
    def relationships(self) -> Tensor:
        """P, [S, K, K]: row k is client k's p_k."""
        return self.start + self.shift

    def shift_of(self, clients: range) -> Tensor:
        """Return p_k - p^0 of some clients, [S, k, K]."""
        return self.shift[:, clients.start : clients.stop]

    def take_up(self, local: Parameters, clients: range) -> None:
        """Replace the clients' models, name to [S, k, ...], by their own cores; a round begins."""
        for name, stack in self.sent.items():
            local[name].copy_(stack[:, clients.start : clients.stop])
        self.velocity[:, clients.start : clients.stop] = 0

    def model(self, own: Parameters, clients: range) -> dict[str, Tensor]:
        """Return w_k = sum_{j != k} p_kj sent_j + p_kk own_k, [S * k, ...]; differentiable by p_k - p^0 and own_k.

        Args:
            own: the clients' cores and "apple.shift", [S * k, ...].
            clients: who they are.
        """
        members = torch.arange(clients.start, clients.stop, device=self.start.device)
        weights = self.start + own["apple.shift"].unflatten(0, (-1, len(clients)))
        mine = weights[:, torch.arange(len(members), device=members.device), members].unsqueeze(2)
        made = {}
        for name, sent in self.sent.items():
            others, core = sent.flatten(2), own[name].unflatten(0, (-1, len(clients))).flatten(2)
            made[name] = (weights @ others + mine * (core - others[:, members])).view_as(own[name])
        return made

    def step(self, gradient: Tensor, active: Tensor, clients: range, rate: float, momentum: float) -> None:
        """Descend along p's ``gradient`` [S, k, K] where a client is ``active`` [S, k]."""
        part, taking = slice(clients.start, clients.stop), active.unsqueeze(2).to(gradient.dtype)
        velocity = self.velocity[:, part]
        velocity.copy_(torch.where(active.unsqueeze(2), momentum * velocity + gradient, velocity))
        self.shift[:, part] -= rate * taking * velocity

    def put_aside(self, local: Parameters, clients: range) -> None:
        """Keep the clients' trained cores, [S, k, ...], and replace them by the clients' models."""
        shift = self.shift_of(clients).flatten(0, 1)
        models = self.model({"apple.shift": shift} | {n: local[n].flatten(0, 1) for n in self.sent}, clients)
        for name, trained in self.trained.items():
            trained[:, clients.start : clients.stop] = local[name]
            local[name].copy_(models[name].view_as(local[name]))

    def upload(self, uploads: Parameters) -> Tensor:
        """Write the trained cores into the uploads, [S, K, ...], as what everybody has from now on; return P."""
        for name, trained in self.trained.items():
            uploads[name].copy_(trained)
            self.sent[name].copy_(trained)
        return self.relationships
