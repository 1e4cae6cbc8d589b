"""Plain federated recommendation: one client after another, dictionaries of tensors, torch's Adam, a server between.

What a method does beside is handed in; it shares with the suite data, initial weights and batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.methods.base import Method
from fedbench.models.parameters import draw
from fedbench.tasks.rec.arrays import ClientPairs, RecProblem
from tests.reference.rec import RecTrace, networks_in
from tests.tasks.rec.plain_rec import average_items, bpr, pairs_of, start_items
from tests.tasks.rec.plain_vectors import VECTORS, both_tables
from tests.tasks.rec.test_rec_ranking import plain_figures

Model = dict[str, Tensor]


def of_vectors(method: Method[Any], clients: list[ClientPairs], **choices: Any) -> Plain:
    """Return the plain program of the protocol's backbone and BPR; ``choices``: what is shared, how it is averaged."""
    training = method.training
    finals = [VECTORS[training.model.backbone](client, training.model) for client in clients]

    def loss(model: Model, k: int, batch: Any) -> Tensor:
        return bpr(finals[k](model), both_tables(model), batch, clients[k], training)

    return Plain(vectors=lambda model, k: finals[k](model), loss=loss, **choices)


def trained(plain: Plain, method: Method[Any], problem: RecProblem, seed: int, tolerance: float = 1e-9) -> RecTrace:
    """Run a plain program on a problem's clients."""
    run = federate(plain, problem.client_data, networks_in(method, problem, seed), method.training, seed)
    return RecTrace(np.array(run.losses), np.array(run.figures), tolerance=(tolerance, tolerance))


@dataclass
class Plain:
    """A method, plainly.

    ``vectors``: final vectors [users + items, d] of a client's model. ``loss``: of a client's batch. ``shared``: is a
    parameter averaged? ``rows``: are items' rows averaged over who has them? ``weights``: of the clients in averages.
    ``corrected``: changes gradients before a step, from (model, client, round, number of the step in the round).
    ``after``: what else happens at the end of a round. ``names``: items of each client's table; absent: its own.
    """

    vectors: Callable[[Model, int], Tensor]
    loss: Callable[[Model, int, Any], Tensor]
    shared: Callable[[str], bool]
    rows: bool = True
    weights: list[float] | None = None
    corrected: Callable[[Model, int, int, int], None] = lambda model, client, round, number: None
    after: Callable[[list[Model], int], None] = lambda models, round: None
    names: list[list[int]] | None = None


@dataclass
class Run:
    """Losses of the last batches, and test Recall@20 and NDCG@20 after local steps; [rounds][clients]."""

    losses: list[list[float]] = field(default_factory=list)
    figures: list[list[tuple[float, float]]] = field(default_factory=list)
    models: list[Model] = field(default_factory=list)


def federate(
    plain: Plain, clients: list[ClientPairs], networks: list[Any], training: TrainingSettings, seed: int
) -> Run:
    ids = plain.names or [client.item_ids.tolist() for client in clients]
    run = Run(models=[started(network, len(own), seed) for network, own in zip(networks, ids, strict=True)])
    start_items(run.models, ids, training, seed)
    optimisers = [torch.optim.Adam(model.values(), lr=training.learning_rate) for model in run.models]
    for round in range(1, training.rounds + 1):
        last = [
            _train(plain, clients[k], run.models[k], optimisers[k], k, round, training, seed) for k in range(len(ids))
        ]
        run.losses.append(last)
        run.figures.append([_measured(plain, clients[k], run.models[k], k) for k in range(len(ids))])
        _average(plain, run.models, ids)
        plain.after(run.models, round)
    return run


def started(network: Any, items: int, seed: int) -> Model:
    model = {name: torch.from_numpy(value).requires_grad_() for name, value in draw(network.parameters(), seed).items()}
    width = model["item.weight"].shape[1]
    model["item.weight"] = torch.zeros(items, width, dtype=torch.float64, requires_grad=True)
    return model


def _train(plain, client, model, optimiser, k, round, training, seed) -> float:  # type: ignore[no-untyped-def]
    number, loss = 0, torch.tensor(float("nan"))
    for epoch in range(training.local_epochs):
        for batch in pairs_of(client, training, (seed, k), round, epoch):
            loss = plain.loss(model, k, batch)
            optimiser.zero_grad()
            loss.backward()
            plain.corrected(model, k, round, number)
            optimiser.step()
            number += 1
    return float(loss.detach())


def _measured(plain: Plain, client: ClientPairs, model: Model, k: int) -> tuple[float, float]:
    final = plain.vectors(model, k).detach()
    scores = (final[: client.users] @ final[client.users :].T).numpy()
    return tuple(plain_figures(client, scores, "test")[:2])  # type: ignore[return-value]


def _average(plain: Plain, models: list[Model], ids: list[list[int]]) -> None:
    share = np.array(plain.weights or [1.0] * len(models)) / sum(plain.weights or [1.0] * len(models))
    for name in (name for name in models[0] if plain.shared(name)):
        mean = sum(float(part) * model[name].detach() for part, model in zip(share, models, strict=True))
        for model in models:
            model[name].data.copy_(mean)
    if plain.rows and plain.weights is None:
        average_items(models, ids)
    elif plain.rows:
        _average_rows(models, ids, share)


def _average_rows(models: list[Model], ids: list[list[int]], share: np.ndarray) -> None:
    for item in {item for own in ids for item in own}:
        holders = [(k, own.index(item)) for k, own in enumerate(ids) if item in own]
        total = sum(share[k] for k, _ in holders)
        mean = sum(float(share[k] / total) * models[k]["item.weight"].detach()[row] for k, row in holders)
        for k, row in holders:
            models[k]["item.weight"].data[row] = mean
