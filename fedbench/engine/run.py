"""One run: the rounds of a cell for the seeds computed at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.cohort import Cohort, Pack, parameters_per_client, start_cohort
from fedbench.engine.history import History
from fedbench.engine.local_training import train_locally
from fedbench.engine.server import Traffic, server_step
from fedbench.kernels.allocator import return_freed_memory
from fedbench.methods.base import Cell, Method
from fedbench.models.parameters import Parameters
from fedbench.tasks.node_arrays import NodeProblem

_ROUNDS_BETWEEN_TRIMS = 10  # a trim costs about a tenth of a second in the largest cells
Progress = Callable[[int, History], None]
Figures = dict[str, Tensor]
"""Name to a figure of every client, [S, k] or [S, k, ...]."""


@dataclass
class Outcome:
    """What a run leaves: its measurements and its costs, for the seeds it computed at once."""

    cell: Cell
    history: History
    parameters: int = 0
    steps: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    training_seconds: float = 0.0
    evaluation_seconds: float = 0.0
    final_mixing: Tensor | None = None


@dataclass(frozen=True)
class Place:
    """Precision and device of a run."""

    dtype: torch.dtype = torch.float32
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))


def run(
    method: Method[Any],
    problem: NodeProblem,
    seeds: tuple[int, ...],
    place: Place,
    progress: Progress | None = None,
) -> Outcome:
    """Train all clients for all rounds of ``method.training``.

    Args:
        method: the federated method, settings included.
        problem: data set and partition.
        seeds: run seeds computed at once; on a CPU one is faster, on a GPU all.
        place: precision and device.
        progress: called after each evaluation with the round and the measurements so far.

    Raises:
        TrainingError: a loss is not finite.
    """
    cell = describe(problem, method, seeds, place)
    network = method.network(cell)
    cohort = start_cohort(cell, network, problem, method.training, pooled=method.pooled)
    outcome = Outcome(cell, History(seeds), parameters=parameters_per_client(network.parameters()))
    public = method.public(cell)
    for round in range(1, method.training.rounds + 1):
        _round(method, cohort, public, round, outcome)
        if round % _ROUNDS_BETWEEN_TRIMS == 0:
            return_freed_memory()
        if progress and due(method.training, round):
            progress(round, outcome.history)
    return outcome


def _round(method: Method[Any], cohort: Cohort, public: Any, round: int, outcome: Outcome) -> None:
    clock = Clock(outcome)
    losses, signals, accuracies = [], [], []
    for pack in cohort.packs:
        if not method.training.keep_optimiser_state:
            pack.optimiser.reset()
        losses.append(train_locally(method, cohort, pack, round))
        with torch.no_grad():
            effective = cohort.network.effective(pack.parameters)
            signals.append(method.signals(cohort.network, cohort.by_client(effective), public))
            clock.training()
            if due(method.training, round) and method.evaluated == "after_local_steps":
                accuracies.append(evaluate(cohort, pack, effective))
                clock.evaluation()
    with torch.no_grad():
        weights, traffic = server_step(method, cohort, _joined(signals))
        clock.training()
        if due(method.training, round) and method.evaluated == "after_download":
            accuracies = [evaluate(cohort, p, cohort.network.effective(p.parameters)) for p in cohort.packs]
            clock.evaluation()
    _account(method, cohort, outcome, round, traffic)
    _note(outcome, round, _joined(accuracies), torch.cat(losses), weights)


def _joined(parts: list[Figures]) -> Figures:
    """Join the packs' figures along the clients."""
    names = parts[0] if parts else {}
    return {name: torch.cat([part[name] for part in parts], dim=1) for name in names}


class Clock:
    """Attributes CPU seconds since the last reading to training or to evaluation."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome, self._last = outcome, time.process_time()

    def training(self) -> None:
        """Attribute to local training and the server's step."""
        self._outcome.training_seconds += self._elapsed()

    def evaluation(self) -> None:
        """Attribute to evaluation."""
        self._outcome.evaluation_seconds += self._elapsed()

    def _elapsed(self) -> float:
        before, self._last = self._last, time.process_time()
        return self._last - before


def _account(method: Method[Any], cohort: Cohort, outcome: Outcome, round: int, traffic: Traffic) -> None:
    outcome.steps += int(method.local_epochs(round, cohort.cell).max())
    outcome.bytes_up += traffic.up * cohort.cell.clients
    outcome.bytes_down += traffic.down * cohort.cell.clients


def _note(outcome: Outcome, round: int, accuracies: Figures, loss: Tensor, weights: Tensor | None) -> None:
    """Add what was measured; nothing in a round without evaluation."""
    outcome.final_mixing = weights
    for split, accuracy in accuracies.items():
        outcome.history.add(round, split, "accuracy", accuracy)
    if accuracies and outcome.parameters:
        outcome.history.add(round, "train", "loss", loss)
    if accuracies and weights is not None:
        outcome.history.add(round, "none", "self_weight", weights.diagonal(dim1=1, dim2=2))


def due(training: TrainingSettings, round: int) -> bool:
    """Tell whether a round is evaluated: every ``evaluate_every``-th, and the last."""
    return round % training.evaluate_every == 0 or round == training.rounds


def evaluate(cohort: Cohort, pack: Pack, effective: Parameters) -> Figures:
    """Return each client's validation and test accuracy, split to [S, k]; ``effective`` are parameters as evaluated."""
    logits = cohort.network.forward(effective, pack.block, None)
    seeds = len(cohort.cell.seeds)
    return {split: accuracy.view(seeds, -1) for split, accuracy in pack.block.accuracy(logits).items()}


def describe(problem: NodeProblem, method: Method[Any], seeds: tuple[int, ...], place: Place) -> Cell:
    """Return what a method may know of the problem; a pooled method sees one client."""
    nodes = torch.from_numpy(problem.nodes_per_client)
    train = torch.from_numpy(problem.train_nodes_per_client)
    if method.pooled:
        nodes, train = nodes.sum().view(1), train.sum().view(1)
    return Cell(problem.width, problem.classes, seeds, nodes, train, place.dtype, place.device)
