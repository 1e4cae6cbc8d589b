"""LPSFed: one client after another, dense eigendecompositions, layers as written, torch's own arccos and optimisers.

From the suite: data, initial values, and the anchor graphs' random numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fedbench import seeds
from fedbench.methods._lpsfed_anchor import random_graph
from fedbench.models.parameters import draw
from tests.reference.rec import RecTrace, networks_in
from tests.tasks.rec.plain_rec import dense_adjacency, ngcf, pairs_of, start_items
from tests.tasks.rec.test_rec_ranking import plain_figures

TASKS = ("rec",)
SMALL = {"bias": {"warmup_epochs": 1}, "anchor": {"sizes": (12, 20, 90)}}  # the anchor where its size is given
TRAINING = {"optimiser": "rmsprop", "weight_decay": 0.02}
USERS_AND_ITEMS = (18, 60)
SWEPT = ("gamma-", "tau-", "phi-32", "phi-64", "phi-256")
CASES = (
    {"train_score": "cosine", "similarity": {"kl_normalize": "raw"}},
    {"pool_mlp_layers": 3, "pred_mlp_layers": 3, "margin": {"detach": False}},
    {"similarity": {"kl_normalize": "hist", "phi_pad": "ones", "bins": 7}, "anchor": {"kind": "er"}},
    {"bias": {"pop_code": "buckets", "frozen": False}, "margin": {"gamma": 0.3, "omega": 0.9}},
    {"convolution": "lightgcn", "loss": "bpr", "reduction": "mean"},
)
Values = dict[str, Tensor]


class PlainClient:
    """A client's data, network and optimiser."""

    def __init__(self, data: Any, settings: Any, training: Any, values: Values) -> None:
        self.data, self.settings, self.training, self.p = data, settings, training, values
        self.adjacency = dense_adjacency(data)
        laplacian = np.eye(len(self.adjacency)) - self.adjacency.numpy()
        found, vectors = np.linalg.eigh(laplacian)
        phi = training.model.embedding.frequencies
        low = (found[:phi] < 1 - 1e-9).astype(float)
        self.basis = torch.from_numpy(vectors[:, :phi] * low)
        self.eigenvalues = np.where(low, found[:phi], 1.0)
        kind = {"adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop}[training.optimiser]
        self.optimiser = kind(values.values(), lr=training.learning_rate, weight_decay=training.weight_decay)
        self.user_code, self.item_code = (self.codes(axis) for axis in (0, 1))
        self.received, self.last, self.seen = None, 0.0, []

    def codes(self, axis: int) -> list[int]:
        degrees = [int((self.data.train[axis] == k).sum()) for k in range((self.data.users, self.data.items)[axis])]
        if self.settings.bias.pop_code == "buckets":
            ends = [10, 20, 30, 40, 50, 100, 200, 300, 400, 500]
            return [sum(d > end for end in ends) for d in degrees]
        return [sorted(set(degrees)).index(d) for d in degrees]

    def layers(self) -> list[Tensor]:
        z = torch.cat([self.p["user.weight"], self.p["item.weight"]])
        depth = self.training.model.layers
        if self.settings.convolution == "ngcf":
            return [ngcf(self.p, self.adjacency, depth)]
        found = [z]
        for layer in range(1, depth + 1):
            if self.settings.convolution == "lightgcn":
                z = self.adjacency @ z
            else:
                z = self.basis @ torch.diag(self.p[f"kernel{layer}.weight"]) @ self.basis.T @ z
            found.append(z)
        return found

    def mlp(self, name: str, x: Tensor) -> Tensor:
        depth = sum(n.startswith(name) and n.endswith("weight") for n in self.p)
        for layer in range(1, depth + 1):
            x = x @ self.p[f"{name}{layer}.weight"] + self.p[f"{name}{layer}.bias"]
            x = torch.tanh(x) if layer < depth else x
        return x

    def vectors(self) -> tuple[Tensor, Tensor]:
        h = torch.tanh(self.mlp("pool", torch.cat(self.layers(), dim=1)))
        return h[: self.data.users], h[self.data.users :]

    def f(self, u: Tensor, i: Tensor) -> Tensor:
        return self.mlp("predict", torch.cat([u, i, u * i], dim=-1)).squeeze(-1)

    def angle(self, u: Tensor, i: Tensor) -> Tensor:
        if self.settings.train_score == "cosine":
            return torch.arccos(nn.functional.cosine_similarity(u, i, dim=-1))
        return torch.arccos(torch.tanh(self.f(u, i)))

    def bias_cosine(self, user: int, item: int) -> Tensor:
        a, b = self.p["popularity.user"][self.user_code[user]], self.p["popularity.item"][self.item_code[item]]
        return a @ b / (a.norm() * b.norm())

    def margin(self, user: int, item: int, angle: Tensor) -> Tensor:
        xi = torch.arccos(self.bias_cosine(user, item).clamp(-1 + 1e-7, 1 - 1e-7))
        return torch.minimum(self.settings.margin.gamma * xi, math.pi - angle)

    def loss(self, batch: Any, epoch: int) -> Tensor:
        own, (us, vs) = self.settings, self.vectors()
        base = torch.cat([self.p["user.weight"], self.p["item.weight"]])
        bias, main, margins = [], [], []
        for user, item, others in zip(*batch, strict=True):
            if own.loss == "bpr":
                gaps = torch.stack([self.f(us[user], vs[item]) - self.f(us[user], vs[j]) for j in others])
                main.append(-nn.functional.logsigmoid(gaps).mean())
                continue
            cosines = torch.stack([self.bias_cosine(user, j) for j in (item, *others)])
            frozen = own.bias.frozen and epoch >= own.bias.warmup_epochs
            cosines = cosines.detach() if frozen else cosines
            bias.append(-torch.log_softmax(cosines / own.bias.tau, 0)[0])
            angles = torch.stack([self.angle(us[user], vs[j]) for j in (item, *others)])
            margin = self.margin(user, item, angles[0])
            if frozen:
                xi = torch.arccos(cosines[0].clamp(-1 + 1e-7, 1 - 1e-7))
                margin = torch.minimum(own.margin.gamma * xi, math.pi - angles[0])
            margin = margin.detach() if own.margin.detach else margin
            margins.append(float(margin.detach()))
            if self.received is not None:
                margin = own.margin.omega * self.received + (1 - own.margin.omega) * margin
            led = float((angles[0] + margin).detach())
            if epoch >= own.bias.warmup_epochs:
                self.seen.append((float(angles[0].detach()), float(led >= math.pi - 1e-4)))
            first = torch.cos(torch.clamp(angles[0] + margin, max=math.pi))
            logits = torch.cat([first[None], torch.cos(angles[1:])]) / own.tau
            main.append(-torch.log_softmax(logits, 0)[0])
        size = len(batch[0]) if own.reduction == "mean" else 1
        if own.loss == "bc" and epoch < own.bias.warmup_epochs:
            return sum(bias) / size
        touched = [
            [user, *(self.data.users + j for j in (item, *others))] for user, item, others in zip(*batch, strict=True)
        ]
        squares = sum(base[rows].square().sum() for rows in touched) * 0.5 * self.training.ranking.l2
        if own.loss == "bpr":
            return (sum(main) + squares) / size
        self.last = sum(margins) / len(margins)
        learnt = 0.0 if frozen else own.bias.weight * sum(bias)  # frozen: a constant, left out of the figure
        return (learnt + (1 - own.bias.weight) * sum(main) + squares) / size

    def step(self, batch: Any, epoch: int) -> float:
        loss = self.loss(batch, epoch)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return float(loss.detach())

    def mean_margin(self) -> float:
        if self.settings.margin.mean == "last_batch":
            return self.last
        with torch.no_grad():
            us, vs = self.vectors()
            all_pairs = [(u, i) for u in range(self.data.users) for i in range(self.data.items)]
            angles = self.angle(us[:, None].expand(-1, len(vs), -1), vs.expand(len(us), -1, -1))
            return sum(float(self.margin(u, i, angles[u, i])) for u, i in all_pairs) / len(all_pairs)

    def scores(self) -> np.ndarray:
        with torch.no_grad():
            us, vs = self.vectors()
            return torch.stack([self.f(u.expand(len(vs), -1), vs) for u in us]).numpy()

    def signature(self) -> np.ndarray:
        if self.settings.similarity.signature == "filtered":
            return self.eigenvalues * self.p[f"kernel{self.training.model.layers}.weight"].detach().numpy()
        return self.eigenvalues


def anchor_eigenvalues(settings: Any, clients: list[PlainClient], count: int, seed: int, round: int) -> np.ndarray:
    sizes = [[c.data.users, c.data.items, c.data.train.shape[1]] for c in clients]
    mean = settings.anchor.sizes if settings.anchor.kind == "fixed" else [round_(m) for m in np.mean(sizes, axis=0)]
    named = ("lpsfed anchor", seed, round) if settings.anchor.refresh == "round" else ("lpsfed anchor", seed)
    taken = random_graph(settings.anchor.kind, tuple(mean), seeds.generator(*named)).toarray()
    user, item = taken.sum(1), taken.sum(0)
    whole = np.zeros((len(user) + len(item),) * 2)
    whole[: len(user), len(user) :] = taken / np.sqrt(np.outer(user, item).clip(1))
    found = np.linalg.eigvalsh(np.eye(len(whole)) - whole - whole.T)[:count]
    return np.where(found < 1 - 1e-6, found, 1.0)


def round_(mean: float) -> int:
    return round(float(mean))


def distribution(k: np.ndarray, own: Any) -> np.ndarray:
    if own.kl_normalize == "softmax":
        return np.exp(k) / np.exp(k).sum()
    if own.kl_normalize == "hist":
        places = np.clip((k * own.bins).astype(int), 0, own.bins - 1)
        return np.array([1 + (places == b).sum() for b in range(own.bins)]) / (own.bins + len(k))
    raised = np.maximum(k, 0) + own.epsilon
    return raised if own.kl_normalize == "raw" else raised / raised.sum()


def similarities(settings: Any, clients: list[PlainClient], seed: int, round: int) -> tuple[list[float], list[float]]:
    own, spectra = settings.similarity, [c.signature() for c in clients]
    anchor = anchor_eigenvalues(settings, clients, len(spectra[0]), seed, round)
    if own.zeros == "dropped":
        few = [[value for value in k if value >= 1e-6] for k in (anchor, *spectra)]
        anchor, *spectra = (np.array(k + [1.0] * (len(anchor) - len(k))) for k in few)
    if own.phi_pad == "truncate_all_to_min":
        kept = min(int((k < 1).sum()) for k in (anchor, *spectra))
        anchor, spectra = anchor[:kept], [k[:kept] for k in spectra]
    p = distribution(anchor, own)
    rho = [float(sum(p * np.log(p / distribution(k, own)))) for k in spectra]
    low, high = (min(rho) if own.scale == "minmax" else 0.0), max(rho)
    return rho, [1 - (r - low) / (high - low) for r in rho]


def server(settings: Any, clients: list[PlainClient], seed: int, round: int) -> dict[str, list[float]]:
    rho, near = [], [1.0] * len(clients)
    if settings.personalised:
        rho, near = similarities(settings, clients, seed, round)
    margins = [c.mean_margin() for c in clients] if settings.loss == "bc" else []
    for name in (n for n in clients[0].p if n.startswith(("pool", "predict"))):
        sent = [c.p[name].detach().clone() for c in clients]
        mean = sum(sent) / len(sent)
        for client, own, share in zip(clients, sent, near, strict=True):
            client.p[name].data.copy_(share * mean + (1 - share) * own)
    for client, own, share in zip(clients, margins, near, strict=False):
        mean = sum(margins) / len(margins)
        client.received = mean if settings.margin.update == "average" else share * mean + (1 - share) * own
    updated = [c.received for c in clients] if margins else []
    return {"rho": rho, "similarity": near if rho else [], "margin": margins, "margin_updated": updated}


def federate(problem: Any, networks: list[Any], settings: Any, training: Any, seed: int) -> dict[str, np.ndarray]:
    """Return losses of last batches, test Recall@20 and NDCG@20 after local steps, and diagnostics, [rounds, K]."""
    starts = [draw(network.parameters(), seed) for network in networks]
    models = [{n: torch.from_numpy(v).requires_grad_() for n, v in start.items()} for start in starts]
    start_items(models, [problem.partition.items_of(k).tolist() for k in range(problem.clients)], training, seed)
    clients = [PlainClient(d, settings, training, m) for d, m in zip(problem.client_data, models, strict=True)]
    rows: dict[str, list[Any]] = {}
    for round in range(1, training.rounds + 1):
        last = []
        for k, client in enumerate(clients):
            for epoch in range(training.local_epochs):
                done = (round - 1) * training.local_epochs + epoch
                for batch in pairs_of(client.data, training, (seed, k), round, epoch):
                    loss = client.step(batch, done)
            last.append(loss)
        figures = [plain_figures(c.data, c.scores(), "test") for c in clients]
        now = {"loss": last, "recall@20": [f[0] for f in figures], "ndcg@20": [f[1] for f in figures]}
        if settings.loss == "bc":
            seen = np.array([np.mean(c.seen, 0) for c in clients]).T
            now |= {"positive_angle": seen[0], "positives_at_pi": seen[1]}
            for client in clients:
                client.seen.clear()
        for name, values in (now | server(settings, clients, seed, round)).items():
            rows.setdefault(name, []).append(values)
    return {name: np.array(values) for name, values in rows.items()}


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    """RMSprop's first steps go by signs: where a gradient is rounding, programs part by as much as it moves."""
    found = federate(problem, networks_in(method, problem, seed), method.settings, method.training, seed)
    losses, *figures = (found.pop(name) for name in ("loss", "recall@20", "ndcg@20"))
    further = {name: values for name, values in found.items() if values.size}
    return RecTrace(losses, np.stack(figures, axis=2), further, (1e-6, 2e-4), (1e-6, 2e-4))
