"""FedMF: gradients by hand, pair by pair; the server adds up what arrives, item by item."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedbench.tasks.rec.arrays import ClientPairs
from tests.reference.plans import Settings
from tests.reference.rec import Model, RecTrace, average_items, item_ids, trace_of

TASKS = ("rec",)
TRAINING = {"learning_rate": 0.02}
CASES = (
    {},
    {"loss": "pointwise"},
    {"combined": "mean"},
    {"combined": "mean", "loss": "pointwise", "reduction": "mean"},
)


class Program:
    def __init__(self, settings: Settings, training: Any, problem: Any, seed: int) -> None:
        self.settings, self.training = settings, training
        self.ids = item_ids(problem)

    def begin(self, models: list[Model], round: int) -> None:
        self.received = [model["item.weight"].clone() for model in models]
        self.round = round

    def step(self, k: int, model: Model, client: ClientPairs, batch: Any) -> float:
        users, items = model["user.weight"].numpy(), model["item.weight"].numpy()
        du, dv, total = np.zeros_like(users), np.zeros_like(items), 0.0
        for user, item, others in zip(*batch, strict=True):
            weight, penalty = self.weight(k, user), self.training.ranking.l2
            loss, gu, gi, gj = self.pair(users[user], items[item], items[others])
            self.seen(k, user, loss)
            rows = [users[user], items[item], *items[others]]
            total += weight * (loss + penalty / 2 * sum(row @ row for row in rows))
            du[user] += weight * (gu + penalty * users[user])
            dv[item] += weight * (gi + penalty * items[item])
            for j, g in zip(others, gj, strict=True):
                dv[j] += weight * (g + penalty * items[j])
        share = 1.0 if getattr(self.settings, "reduction", "sum") == "sum" else 1.0 / len(batch[0])
        if self.training.optimiser == "adam":
            self.adam(k, model, {"user.weight": share * du, "item.weight": share * dv})
        else:
            users -= self.training.learning_rate * share * du
            items -= self.training.learning_rate * share * dv
        return share * total

    def weight(self, k: int, user: int) -> float:
        return 1.0

    def seen(self, k: int, user: int, loss: float) -> None:
        pass

    def pair(self, u: np.ndarray, vi: np.ndarray, vj: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, list[np.ndarray]]:  # fmt: skip  # noqa: E501
        """Return a pair's loss, and its gradients by u, v_i and each v_j."""
        if getattr(self.settings, "loss", "bpr") == "pointwise":
            miss, over = 1 - u @ vi, vj @ u
            return miss**2 + (over**2).sum(), -2 * miss * vi + 2 * over @ vj, -2 * miss * u, [2 * o * u for o in over]
        slack = [1 / (1 + np.exp(u @ (vi - v))) / len(vj) for v in vj]
        loss = sum(np.log1p(np.exp(-u @ (vi - v))) for v in vj) / len(vj)
        by_user = sum(-s * (vi - v) for s, v in zip(slack, vj, strict=True))
        return loss, by_user, -sum(slack) * u, [s * u for s in slack]

    def adam(self, k: int, model: Model, gradients: dict[str, np.ndarray]) -> None:
        """Step with torch's Adam, whose state stays."""
        state = self.__dict__.setdefault("state", {})
        if k not in state:
            tables = {name: model[name].clone().requires_grad_() for name in gradients}
            state[k] = tables, torch.optim.Adam(tables.values(), lr=self.training.learning_rate)
        tables, optimiser = state[k]
        for name, table in tables.items():
            table.data.copy_(model[name])
            table.grad = torch.from_numpy(gradients[name])
        optimiser.step()
        for name, table in tables.items():
            model[name].copy_(table.detach())

    def server(self, models: list[Model]) -> None:
        if self.settings.combined == "mean":
            average_items(models, self.ids)
            return
        changes = [model["item.weight"] - before for model, before in zip(models, self.received, strict=True)]
        for k, own in enumerate(self.ids):
            for row, item in enumerate(own):
                arrived = [change[other.index(item)] for change, other in zip(changes, self.ids, strict=True) if item in other]  # fmt: skip  # noqa: E501
                models[k]["item.weight"][row] = self.received[k][row] + sum(arrived)

    def vectors(self, k: int, model: Model) -> tuple[Tensor, Tensor]:
        return model["user.weight"], model["item.weight"]


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    return trace_of(Program, method, problem, seed)
