"""One run: the rounds of a cell for the seeds computed at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.cohort import Cohort, start_cohort
from fedbench.engine.history import History
from fedbench.engine.local_training import train_locally
from fedbench.engine.server import Traffic, server_step, shared_stacks
from fedbench.methods.base import Cell, Method
from fedbench.models.parameters import Parameters
from fedbench.tasks.node import pack
from fedbench.tasks.node_arrays import NodeProblem

Progress = Callable[[int, History], None]


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
    block = pack(problem, len(seeds), pooled=method.pooled, dtype=place.dtype, device=place.device)
    cell = describe(problem, method, seeds, place)
    cohort = start_cohort(cell, method.network(cell), block, method.training)
    outcome = Outcome(cell, History(seeds), parameters=parameters_per_client(cohort))
    public = method.public(cell)
    for round in range(1, method.training.rounds + 1):
        _round(method, cohort, public, round, outcome)
        if progress and due(method.training, round):
            progress(round, outcome.history)
    return outcome


def _round(method: Method[Any], cohort: Cohort, public: Any, round: int, outcome: Outcome) -> None:
    measured = due(method.training, round)
    clock = Clock(outcome)
    if not method.training.keep_optimiser_state:
        cohort.optimiser.reset()
    loss = train_locally(method, cohort, _received(method, cohort), round)
    with torch.no_grad():
        effective = cohort.network.effective(cohort.parameters)
        clock.training()
        if measured and method.evaluated == "after_local_steps":
            evaluate(cohort, effective, outcome.history, round)
            clock.evaluation()
        weights, traffic = server_step(method, cohort, effective, public)
        clock.training()
        if measured and method.evaluated == "after_download":
            evaluate(cohort, cohort.network.effective(cohort.parameters), outcome.history, round)
            clock.evaluation()
    _account(method, cohort, outcome, round, traffic)
    _note(outcome, round, loss, weights, measured)


def _received(method: Method[Any], cohort: Cohort) -> dict[str, Tensor]:
    """Return a copy of the shared parameters, if the method's penalty compares with it."""
    if not method.anchored:
        return {}
    return {name: stack.detach().clone() for name, stack in shared_stacks(method, cohort).items()}


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


def _note(outcome: Outcome, round: int, loss: Tensor, weights: Tensor | None, measured: bool) -> None:
    outcome.final_mixing = weights
    if not measured:
        return
    if outcome.parameters:
        outcome.history.add(round, "train", "loss", loss)
    if weights is not None:
        outcome.history.add(round, "none", "self_weight", weights.diagonal(dim1=1, dim2=2))


def due(training: TrainingSettings, round: int) -> bool:
    """Tell whether a round is evaluated: every ``evaluate_every``-th, and the last."""
    return round % training.evaluate_every == 0 or round == training.rounds


def evaluate(cohort: Cohort, effective: Parameters, history: History, round: int) -> None:
    """Measure every client on its validation and test nodes; ``effective`` are the parameters as evaluated."""
    logits = cohort.network.forward(effective, cohort.block, None)
    for split, accuracy in cohort.block.accuracy(logits).items():
        history.add(round, split, "accuracy", accuracy)


def describe(problem: NodeProblem, method: Method[Any], seeds: tuple[int, ...], place: Place) -> Cell:
    """Return what a method may know of the problem; a pooled method sees one client."""
    nodes = torch.from_numpy(problem.nodes_per_client)
    train = torch.from_numpy(problem.train_nodes_per_client)
    if method.pooled:
        nodes, train = nodes.sum().view(1), train.sum().view(1)
    return Cell(problem.width, problem.classes, seeds, nodes, train, place.dtype, place.device)


def parameters_per_client(cohort: Cohort) -> int:
    """Return the number of trainable numbers of one client."""
    return sum(stack[0].numel() for stack in cohort.parameters.values())
