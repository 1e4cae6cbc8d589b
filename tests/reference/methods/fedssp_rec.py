"""FedSSP for recommendation with dense eigenvectors, one attention head after another, and means written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tests.reference.rec import RecTrace
from tests.tasks.rec.plain_federation import Plain, trained
from tests.tasks.rec.plain_rec import bpr

TASKS = ("rec",)
SMALL = {"width": 8, "heads": 2}
CASES = ({"shared": "code"}, {"preferences": False}, {"momentum": 0.0})
Model = dict[str, Tensor]


def eigen(taken: np.ndarray, count: int) -> tuple[Tensor, Tensor]:
    """Return the lowest eigenvalues under 1 of I - D^(-1/2) A D^(-1/2), at most ``count``, and their eigenvectors."""
    users, items = taken.shape
    whole = np.block([[np.zeros((users, users)), taken], [taken.T, np.zeros((items, items))]])
    root = np.diag(whole.sum(1).clip(1) ** -0.5)
    values, vectors = np.linalg.eigh(np.eye(users + items) - root @ whole @ root)
    low = np.flatnonzero(values < 1 - 1e-6)[:count]
    return torch.from_numpy(values[low]), torch.from_numpy(vectors[:, low].copy())


def linear(p: Model, part: str, x: Tensor) -> Tensor:
    return x @ p[f"encoder.{part}.weight"] + p[f"encoder.{part}.bias"]


def norm(p: Model, part: str, x: Tensor) -> Tensor:
    scaled = (x - x.mean(1, keepdim=True)) / (x.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    return scaled * p[f"encoder.{part}.weight"] + p[f"encoder.{part}.bias"]


def code(values: Tensor, width: int, scale: float) -> Tensor:
    waves = [10_000 ** (-2 * i / width) for i in range(width // 2)]
    turns = torch.stack([scale * values * wave for wave in waves], dim=1)
    return torch.cat([values[:, None], turns.sin(), turns.cos()], dim=1)


def kernels(p: Model, values: Tensor, settings: Any) -> Tensor:
    """Return k^(l), [eigenvalues, layers]."""
    z = linear(p, "code", code(values, settings.width, settings.scale))
    inner = norm(p, "norm1", z)
    size, heads = settings.width // settings.heads, []
    for head in range(settings.heads):
        own = slice(head * size, (head + 1) * size)
        query, key, value = (linear(p, part, inner)[:, own] for part in ("query", "key", "value"))
        heads.append(torch.softmax(query @ key.T / math.sqrt(size), dim=1) @ value)
    z = z + linear(p, "joined", torch.cat(heads, dim=1))
    hidden = linear(p, "first", norm(p, "norm2", z))
    z = z + linear(p, "second", 0.5 * hidden * (1 + torch.erf(hidden / math.sqrt(2))))
    return linear(p, "decoder", z)


def common(p: Model, spectrum: tuple[Tensor, Tensor], settings: Any) -> Tensor:
    """Return the vectors of users and items without preferences."""
    (values, basis), z = spectrum, torch.cat([p["user.weight"], p["item.weight"]])
    filters, total = kernels(p, values, settings), torch.cat([p["user.weight"], p["item.weight"]])
    for layer in range(filters.shape[1]):
        z = basis @ torch.diag(filters[:, layer]) @ basis.T @ z
        total = total + z / (layer + 2)
    return total


def personal(p: Model, vectors: Tensor, users: int) -> Tensor:
    if "preference.users" not in p:
        return vectors
    return torch.cat([vectors[:users] + p["preference.users"], vectors[users:] + p["preference.items"]])


class Consensus:
    """m_k of every client and m, moved step by step; the penalty of a step."""

    def __init__(self, clients: int, settings: Any) -> None:
        self.settings, self.means, self.consensus = settings, [None] * clients, None

    def penalty(self, vectors: Tensor, batch: Any, users: int, client: int) -> Tensor:
        who, taken, others = batch
        items = sorted({*taken.tolist(), *others.flatten().tolist()})
        now = torch.stack([vectors[sorted(set(who.tolist()))].mean(0), vectors[[users + i for i in items]].mean(0)])
        old, share = self.means[client], self.settings.momentum
        mean = now if old is None else share * old + (1 - share) * now
        self.means[client] = mean.detach()
        if self.consensus is None:
            return torch.zeros((), dtype=torch.float64)
        return self.settings.tau / 2 * sum(((mean[side] - self.consensus[side]) ** 2).mean() for side in (0, 1))

    def exchange(self) -> None:
        self.consensus = sum(self.means) / len(self.means)


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    chosen, clients, settings = method.training, problem.client_data, method.settings
    phi = chosen.model.embedding.frequencies
    spectra = [eigen(client.taken.toarray().astype(float), phi) for client in clients]
    consensus, pulled = Consensus(len(clients), settings), settings.tau and settings.shared != "nothing"
    shared = {"encoder": "encoder.", "code": "encoder.code.", "nothing": "none"}[settings.shared]

    def loss(model: Model, k: int, batch: Any) -> Tensor:
        vectors, users = common(model, spectra[k], settings), clients[k].users
        start = torch.cat([model["user.weight"], model["item.weight"]])
        found = bpr(personal(model, vectors, users), start, batch, clients[k], chosen)
        return found + consensus.penalty(vectors, batch, users, k) if pulled else found

    plain = Plain(
        vectors=lambda model, k: personal(model, common(model, spectra[k], settings), clients[k].users),
        loss=loss,
        shared=lambda name: name.startswith(shared),
        rows=False,
        after=lambda models, round: consensus.exchange() if pulled else None,
    )
    return trained(plain, method, problem, seed, tolerance=1e-6)
