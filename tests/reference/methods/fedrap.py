"""FedRAP: one loss per user, norms as torch's MSE and L1 losses, one SGD with a rate a table."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from fedbench.tasks.rec.arrays import ClientPairs
from tests.reference.plans import Settings
from tests.reference.rec import Model, RecTrace, average_items, item_ids, trace_of

TASKS = ("rec",)
SMALL = {"item_rate": 9.0}
CASES = (
    {"mean_over": "pairs", "apart": 0.5},
    {"norms": "batch", "schedule_rounds": 2.0, "epoch_decay": 0.9, "item_rate": 20.0},
)


class Program:
    def __init__(self, settings: Settings, training: Any, problem: Any, seed: int) -> None:
        self.settings, self.training = settings, training
        self.ids = item_ids(problem)

    def begin(self, models: list[Model], round: int) -> None:
        self.round = round

    def step(self, k: int, model: Model, client: ClientPairs, batch: Any) -> float:
        own, names = self.settings, ("user.weight", "item.weight", "local.weight")
        tables = [model[name].clone().requires_grad_() for name in names]
        fit, of_users = self.fit(*tables, batch)
        rise = math.tanh(self.round / own.schedule_rounds) if own.schedule == "tanh" else 1.0
        norms = rise * self.norms(tables[1], tables[2]) if own.norms == "table" else torch.zeros(())
        rate = self.training.learning_rate * own.decay ** (self.round - 1) * own.epoch_decay**self.epoch
        (by_user,) = torch.autograd.grad(of_users, tables[:1], retain_graph=True)
        by_item = torch.autograd.grad(fit + norms, tables[1:])
        for name, gradient, times in zip(names, (by_user, *by_item), (1, own.item_rate, own.item_rate), strict=True):
            model[name] -= rate * times * gradient
        return float(fit.detach())

    def fit(self, users: Tensor, common: Tensor, local: Tensor, batch: Any) -> tuple[Tensor, Tensor]:
        own = self.settings
        rise = math.tanh(self.round / own.schedule_rounds) if own.schedule == "tanh" else 1.0
        each: dict[int, list[Tensor]] = {}
        for user, item, others in zip(*batch, strict=True):
            rows = [item, *others]
            scores = torch.sigmoid((common + local)[rows] @ users[user])
            loss = nn.functional.binary_cross_entropy(scores, torch.eye(len(rows), dtype=torch.float64)[0])
            vectors = torch.cat([users[user], (common + local)[rows].flatten()])
            loss = loss + self.training.ranking.l2 / 2 * vectors.square().sum()
            if own.norms == "batch":
                loss = loss + rise * self.norms(common[rows], local[rows])
            each.setdefault(int(user), []).append(loss)
        if own.mean_over == "users":
            total = sum(sum(losses) / len(losses) for losses in each.values())
            return total / len(each), total
        total = sum(sum(losses) for losses in each.values()) / len(batch[0])
        return total, total

    def norms(self, common: Tensor, local: Tensor) -> Tensor:
        apart, sparse = nn.functional.mse_loss(local, common), nn.functional.l1_loss(common, torch.zeros_like(common))
        return self.settings.sparse * sparse - self.settings.apart * apart

    def server(self, models: list[Model]) -> None:
        average_items(models, self.ids)

    def vectors(self, k: int, model: Model) -> tuple[Tensor, Tensor]:
        return model["user.weight"], model["item.weight"] + model["local.weight"]


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    return trace_of(Program, method, problem, seed)
