"""F2MF: FedMF's plain program with every user's gradient D times as long, D from sums over groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedbench import seeds
from tests.reference.methods.fedmf import Program as FedMF
from tests.reference.plans import Settings
from tests.reference.rec import Model, RecTrace, trace_of

TASKS = ("rec",)
TRAINING = {"learning_rate": 0.02}
CASES = ({"rho": 2.0, "fairness": 4.0}, {"mean_of": "all"}, {"floor": 0.5, "noise": 0.3})


class Program(FedMF):
    def __init__(self, settings: Settings, training: Any, problem: Any, seed: int) -> None:
        super().__init__(settings, training, problem, seed)
        self.seed, counts = seed, [[int((c.train[0] == u).sum()) for u in range(c.users)] for c in problem.client_data]
        everyone = sum(map(sum, counts)) / sum(map(len, counts))
        self.group = [
            [int(n > (sum(own) / len(own) if settings.mean_of == "client" else everyone)) for n in own]
            for own in counts
        ]  # fmt: skip
        self.lengths = [1.0, 1.0]

    def begin(self, models: list[Model], round: int) -> None:
        super().begin(models, round)
        self.losses: dict[tuple[int, int], list[float]] = {}

    def weight(self, k: int, user: int) -> float:
        return self.lengths[self.group[k][user]]

    def seen(self, k: int, user: int, loss: float) -> None:
        self.losses.setdefault((k, int(user)), []).append(loss)

    def server(self, models: list[Model]) -> None:
        super().server(models)
        sums, users = np.zeros(2), np.zeros(2)
        for k in range(len(models)):
            noise = [self.noise(k, what) for what in ("performances", "users")]
            sums, users = sums + noise[0], users + noise[1]
        for (k, user), losses in self.losses.items():
            sums[self.group[k][user]] += max(1 - sum(losses) / len(losses), self.settings.floor)
            users[self.group[k][user]] += 1
        gap = sums[0] / users[0] - sums[1] / users[1]
        weight = self.settings.fairness / (2 if self.settings.divided else 1)
        pull = weight * self.settings.rho * np.sign(gap) * abs(gap) ** (self.settings.rho - 1)
        self.lengths = [1 - pull, 1 + pull]

    def noise(self, k: int, what: str) -> np.ndarray:
        random = seeds.generator("gaussian noise", self.seed, k, self.round, what)
        return self.settings.noise * random.standard_normal(2)


def rec(method: Any, problem: Any, seed: int) -> RecTrace:
    return trace_of(Program, method, problem, seed)
