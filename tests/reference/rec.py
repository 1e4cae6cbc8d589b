"""Federated recommendation as a plain program: client by client, item by item.

A method's file in ``tests/reference/methods`` holds ``rec(method, problem, seed)``, which returns a `RecTrace`.
Methods of item tables share `federate`: a class ``Program`` holds what a client does with a batch, what the server does
with all clients' models, and what vectors a model ranks by. Models are dictionaries of tensors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from fedbench import seeds
from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.cohort import networks_of
from fedbench.engine.run import describe
from fedbench.methods.base import Method
from fedbench.models.parameters import draw
from fedbench.tasks.rec.arrays import ClientPairs, RecProblem
from fedbench.tasks.task import Place
from tests.tasks.rec.plain_rec import pairs_of
from tests.tasks.rec.test_rec_ranking import plain_figures

Model = dict[str, Tensor]
DOUBLE = Place(torch.float64)


@dataclass(frozen=True)
class RecTrace:
    """What a plain program measured.

    ``losses`` [rounds, K], of the last batches; None where nothing is trained. ``figures`` [rounds, K, 2], Recall@20
    and NDCG@20 of test pairs. ``further``: the method's own figures by name, [rounds, K]. ``tolerance``: how near the
    engine comes to losses and these, in the first round and later; ``of_figures``: to ``figures``.
    """

    losses: np.ndarray | None
    figures: np.ndarray
    further: dict[str, np.ndarray] = field(default_factory=dict)
    tolerance: tuple[float, float] = (1e-9, 1e-9)
    of_figures: tuple[float, float] = (1e-12, 1e-12)


def networks_in(method: Method[Any], problem: RecProblem, seed: int) -> list[Any]:
    """Return every client's network."""
    return networks_of(method, describe(problem, method, (seed,), DOUBLE))


class Program(Protocol):
    epoch: int
    """The local epoch, from 0; set before each."""

    def begin(self, models: list[Model], round: int) -> None:
        """Note what a round needs, before anybody trains."""

    def step(self, k: int, model: Model, client: ClientPairs, batch: Any) -> float:
        """Train client k's model on a batch (users, items taken, items not taken); return the loss before."""

    def server(self, models: list[Model]) -> None:
        """Change all models as the server and the download do."""

    def vectors(self, k: int, model: Model) -> tuple[Tensor, Tensor]:
        """Return vectors of users and items whose inner products rank."""


def start(problem: RecProblem, networks: list[Any], training: TrainingSettings, seed: int) -> list[Model]:
    """Start every parameter from its named stream, an item alike in all clients."""
    declared = [network.parameters() for network in networks]
    models = [{name: torch.from_numpy(value) for name, value in draw(each, seed).items()} for each in declared]
    random = seeds.generator("weights", seed, "item.weight")
    table = training.model.embedding.deviation * random.standard_normal((held(problem), training.model.width))
    for model, own in zip(models, item_ids(problem), strict=True):
        model["item.weight"] = torch.from_numpy(np.stack([table[item] for item in own]))
    return models


def item_ids(problem: RecProblem) -> list[list[int]]:
    return [problem.partition.items_of(k).tolist() for k in range(problem.clients)]


def held(problem: RecProblem) -> int:
    return max(max(own) for own in item_ids(problem)) + 1


def federate(
    program: Program, problem: RecProblem, networks: list[Any], training: TrainingSettings, seed: int
) -> tuple[np.ndarray, np.ndarray, list[Model]]:
    """Return losses of the last batches [rounds, K], test Recall@20 and NDCG@20 [rounds, K, 2], and the models."""
    models, losses, figures = start(problem, networks, training, seed), [], []
    for round in range(1, training.rounds + 1):
        program.begin(models, round)
        losses.append([0.0] * problem.clients)
        for k, client in enumerate(problem.client_data):
            for program.epoch in range(training.local_epochs):
                for batch in pairs_of(client, training, (seed, k), round, program.epoch):
                    losses[-1][k] = program.step(k, models[k], client, batch)
        if training.evaluated_after == "local_steps":
            figures.append(measured(program, problem, models))
        program.server(models)
        if training.evaluated_after == "download":
            figures.append(measured(program, problem, models))
    return np.array(losses), np.array(figures), models


def trace_of(program: Any, method: Method[Any], problem: RecProblem, seed: int) -> RecTrace:
    """Run a class ``Program``."""
    made = program(method.settings, method.training, problem, seed)
    losses, figures, _ = federate(made, problem, networks_in(method, problem, seed), method.training, seed)
    return RecTrace(losses, figures)


def measured(program: Program, problem: RecProblem, models: list[Model]) -> list[tuple[float, float]]:
    found = []
    for k, (client, model) in enumerate(zip(problem.client_data, models, strict=True)):
        users, items = program.vectors(k, model)
        found.append(plain_figures(client, (users @ items.T).numpy(), "test")[:2])
    return found


def ranked(problem: RecProblem, scores: list[np.ndarray]) -> RecTrace:
    """Return the figures of each client's scores [users, items], the same in every round."""
    found = [plain_figures(client, own, "test")[:2] for client, own in zip(problem.client_data, scores, strict=True)]
    return RecTrace(None, np.array([found]))


def mix_items(models: list[Model], ids: list[list[int]], weights: np.ndarray) -> None:
    """Set an item's row in client k to its mean over the clients l that have it, weighed by weights[k, l]."""
    before = [model["item.weight"].clone() for model in models]
    for k, own in enumerate(ids):
        for row, item in enumerate(own):
            having = [(weights[k, l], table[other.index(item)]) for l, (table, other) in enumerate(zip(before, ids, strict=True)) if item in other]  # fmt: skip  # noqa: E501, E741
            models[k]["item.weight"][row] = sum(w * v for w, v in having) / sum(w for w, _ in having)


def average_items(models: list[Model], ids: list[list[int]]) -> None:
    mix_items(models, ids, np.ones((len(models), len(models))))
