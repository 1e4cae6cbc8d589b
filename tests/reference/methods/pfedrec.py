"""PFedRec: a module of its own for every user, torch's binary cross-entropy and two optimisers of plain descent."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from fedbench.tasks.rec.arrays import ClientPairs
from tests.reference.plans import Settings
from tests.reference.rec import Model, RecTrace, average_items, item_ids, trace_of

TASKS = ("rec",)
SMALL = {"item_rate": 0.5}
CASES = ({"mean_over": "pairs"}, {"order": "together", "mean_over": "pairs", "item_rate": 3.0})


class Program:
    def __init__(self, settings: Settings, training: Any, problem: Any, seed: int) -> None:
        self.settings, self.training = settings, training
        self.ids = item_ids(problem)

    def begin(self, models: list[Model], round: int) -> None:
        pass

    def step(self, k: int, model: Model, client: ClientPairs, batch: Any) -> float:
        rows: dict[int, list[int]] = {}
        for place, user in enumerate(batch[0].tolist()):
            rows.setdefault(user, []).append(place)
        for table in model.values():
            table.requires_grad_()
        scores = [model["user.weight"], model["user.bias"]]
        before, of_users = self.losses(model, batch, rows)
        steps = torch.autograd.grad(of_users, scores, retain_graph=True)
        if self.settings.order == "alternate":
            self.descend(scores, steps, 1.0)
            before, _ = self.losses(model, batch, rows)
        gradient = torch.autograd.grad(before, [model["item.weight"]])
        if self.settings.order == "together":
            self.descend(scores, steps, 1.0)
        self.descend([model["item.weight"]], gradient, self.settings.item_rate * client.items)
        for table in model.values():
            table.requires_grad_(False)
        return float(before.detach())

    def losses(self, model: Model, batch: Any, rows: dict[int, list[int]]) -> tuple[Tensor, Tensor]:
        """Return what items and what score functions step along."""
        each = [self.of_user(model, user, [(batch[1][r], *batch[2][r]) for r in own]) for user, own in rows.items()]
        if self.settings.mean_over == "users":
            return sum(each) / len(each), sum(each)
        whole = sum(loss * len(own) for loss, own in zip(each, rows.values(), strict=True)) / len(batch[0])
        return whole, whole

    def of_user(self, model: Model, user: int, lists: list[tuple[int, ...]]) -> Tensor:
        function = torch.nn.Linear(model["user.weight"].shape[1], 1).double()
        own = {"weight": model["user.weight"][user : user + 1], "bias": model["user.bias"][user]}
        items = model["item.weight"][[item for row in lists for item in row]]
        targets = torch.tensor([float(place == 0) for row in lists for place in range(len(row))], dtype=torch.float64)
        scores = torch.func.functional_call(function, own, (items,))[:, 0]
        penalty = sum(model["item.weight"][i].square().sum() for row in lists for i in row)
        penalty = penalty + len(lists) * own["weight"].square().sum()
        return binary_cross_entropy_with_logits(scores, targets) + self.training.ranking.l2 / 2 * penalty / len(lists)

    def descend(self, tables: list[Tensor], gradients: Any, times: float) -> None:
        with torch.no_grad():
            for table, gradient in zip(tables, gradients, strict=True):
                table -= self.training.learning_rate * times * gradient

    def server(self, models: list[Model]) -> None:
        average_items(models, self.ids)

    def vectors(self, k: int, model: Model) -> tuple[Tensor, Tensor]:
        items = model["item.weight"]
        return torch.cat([model["user.weight"], model["user.bias"]], dim=1), torch.cat([items, torch.ones(len(items), 1)], dim=1)  # fmt: skip  # noqa: E501


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    return trace_of(Program, method, problem, seed)
