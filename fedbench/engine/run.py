"""One run: the rounds of a cell for the seeds computed at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.checkpoint import Checkpoints
from fedbench.engine.cohort import Cohort, Pack, start_cohort
from fedbench.engine.history import History
from fedbench.engine.local_training import LocalRound, train_locally
from fedbench.engine.server import ServerStep, server_step
from fedbench.kernels.allocator import return_freed_memory
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Traffic, Trained
from fedbench.models.parameters import Parameters
from fedbench.tasks.task import Evaluator, Figures, Place, Problem

_ROUNDS_BETWEEN_TRIMS = 10  # a trim costs about a tenth of a second in the largest cells
Progress = Callable[[int, History], None]


@dataclass
class Outcome:
    """What a run leaves: its measurements and its costs, for the seeds it computed at once.

    ``steps``: local steps of each client, a list a seed. ``mixing``: W [S, K, K] by round, for the first, the middle
    and the last round. ``preparation``: see `Preparation`.
    ``earlier_seconds``: wall and CPU time of killed attempts, up to the checkpoint that this one goes on from.
    """

    cell: Cell
    history: History
    steps: list[list[int]]
    parameters: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    training_seconds: float = 0.0
    evaluation_seconds: float = 0.0
    mixing: dict[int, Tensor] = field(default_factory=dict)
    preparation: Sequence[dict[str, Any]] = ()
    earlier_seconds: tuple[float, float] = (0.0, 0.0)


@dataclass
class Running:
    """A run under way."""

    method: Method[Any]
    cohort: Cohort
    memory: Any
    evaluator: Evaluator
    outcome: Outcome


def run(
    method: Method[Any],
    problem: Problem,
    seeds: tuple[int, ...],
    place: Place,
    progress: Progress | None = None,
    checkpoints: Checkpoints | None = None,
) -> Outcome:
    """Train all clients for all rounds of ``method.training``.

    Args:
        method: the federated method, settings included.
        problem: data set and partition.
        seeds: run seeds computed at once; on a CPU one is faster, on a GPU all.
        place: precision and device.
        progress: called after each evaluation with the round and the measurements so far.
        checkpoints: where the state of a long run is kept; a run goes on from the newest.

    Raises:
        TrainingError: a loss is not finite.
        DataError: a checkpoint is damaged.
    """
    running = _start(method, problem, seeds, place)
    done = checkpoints.restore(running) if checkpoints else 0
    for round in range(done + 1, method.training.rounds + 1):
        _round(running, round)
        if round % _ROUNDS_BETWEEN_TRIMS == 0:
            return_freed_memory()
        if progress and due(method.training, round):
            progress(round, running.outcome.history)
        if checkpoints:
            checkpoints.offer(running, round)
    return running.outcome


def _start(method: Method[Any], problem: Problem, seeds: tuple[int, ...], place: Place) -> Running:
    cell = describe(problem, method, seeds, place)
    outcome = Outcome(cell, History(seeds), [[0] * cell.clients for _ in seeds])
    clock = Clock(outcome)
    prepared = method.prepare(problem, cell)
    _account(outcome, prepared.traffic)
    cohort = start_cohort(cell, method, problem, prepared.data)
    outcome.parameters, outcome.preparation = cohort.size, prepared.diagnostics
    memory = method.memory(cell, prepared.data, cohort.uploads())
    clock.training()
    evaluator = cohort.task.evaluator(problem, method.training, place)
    return Running(method, cohort, memory, evaluator, outcome)


def _round(running: Running, round: int) -> None:
    method, cohort = running.method, running.cohort
    clock, received = Clock(running.outcome), _received(running)
    losses, signals, figures = [], [], []
    for pack in cohort.packs:
        part = {name: stack[:, pack.clients.start : pack.clients.stop] for name, stack in received.items()}
        measured = _begun(running, pack)
        loss, taken = _train(running, pack, part, round)
        losses.append({"loss": loss.view(len(cohort.cell.seeds), -1)})
        _count(running.outcome.steps, taken, pack.clients)
        with torch.no_grad():
            effective = pack.network.effective(pack.parameters)
            signals.append(measured | method.signals(_trained(running, pack, effective)))
            clock.training()
            if due(method.training, round) and method.training.evaluated_after == "local_steps":
                figures.append(_evaluated(running, pack, effective, round))
                clock.evaluation()
    with torch.no_grad():
        exchange = Exchange(cohort.cell, round, running.memory, received)
        step = server_step(method, cohort.uploads(), _joined(signals), exchange, cohort.rows)
        clock.training()
        if due(method.training, round) and method.training.evaluated_after == "download":
            figures = [_evaluated(running, p, p.network.effective(p.parameters), round) for p in cohort.packs]
            clock.evaluation()
    _account(running.outcome, step.traffic)
    _note(running, round, _joined(figures), _joined(losses)["loss"], step)


def _received(running: Running) -> dict[str, Tensor]:
    """Return a copy of the shared parameters, if the method compares with it."""
    if not running.method.anchored:
        return {}
    return {name: stack.clone() for name, stack in running.cohort.uploads().items()}


def _train(running: Running, pack: Pack, received: dict[str, Tensor], round: int) -> tuple[Tensor, list[int]]:
    if not running.method.training.keep_optimiser_state:
        pack.optimiser.reset()
    return train_locally(LocalRound(running.method, running.memory, running.cohort, pack, round, received))


def _count(steps: list[list[int]], taken: list[int], clients: range) -> None:
    """Add the steps of a pack's clients, seed-major."""
    for place, more in enumerate(taken):
        seed, client = divmod(place, len(clients))
        steps[seed][clients[client]] += more


def _begun(running: Running, pack: Pack) -> dict[str, Tensor]:
    """Return what clients measure on the model they received, if the method asks for it."""
    if not running.method.begins_round:
        return {}
    with torch.no_grad():
        return running.method.begin_round(_trained(running, pack, pack.network.effective(pack.parameters)))


def _trained(running: Running, pack: Pack, effective: Parameters) -> Trained:
    cohort = running.cohort
    views = cohort.by_client(effective), cohort.by_client(pack.parameters)
    return Trained(pack.network, *views, pack.block, pack.clients, running.memory)


def _evaluated(running: Running, pack: Pack, effective: Parameters, round: int) -> Figures:
    block = running.method.seen(pack.block, pack.clients, running.memory)
    last = round == running.method.training.rounds
    chosen = running.method.evaluated(_trained(running, pack, effective))
    flat = {name: stack.flatten(0, 1) for name, stack in chosen.items()}
    found = running.evaluator.figures(pack.network, flat, block, last)
    return {key: values.view(len(running.cohort.cell.seeds), -1) for key, values in found.items()}


def _joined(parts: list[dict[Any, Tensor]]) -> dict[Any, Tensor]:
    """Join the packs' figures along the clients."""
    names = parts[0] if parts else {}
    return {name: torch.cat([part[name] for part in parts], dim=1) for name in names}


class Clock:
    """Attributes CPU seconds since the last reading to training or to evaluation."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome, self._last = outcome, time.process_time()

    def training(self) -> None:
        """Attribute to preparation, local training and the server's step."""
        self._outcome.training_seconds += self._elapsed()

    def evaluation(self) -> None:
        """Attribute to evaluation."""
        self._outcome.evaluation_seconds += self._elapsed()

    def _elapsed(self) -> float:
        before, self._last = self._last, time.process_time()
        return self._last - before


def _account(outcome: Outcome, traffic: Traffic) -> None:
    outcome.bytes_up += traffic.up
    outcome.bytes_down += traffic.down


def _note(running: Running, round: int, figures: Figures, loss: Tensor, step: ServerStep) -> None:
    """Add what was measured; nothing in a round without evaluation."""
    outcome, rounds = running.outcome, running.method.training.rounds
    if step.weights is not None and round in (1, (rounds + 1) // 2, rounds):
        outcome.mixing[round] = step.weights
    for (metric, split), values in figures.items():
        outcome.history.add(round, split, metric, values)
    if figures and outcome.parameters:
        outcome.history.add(round, "train", "loss", loss)
    if figures and step.weights is not None:
        outcome.history.add(round, "none", "self_weight", step.weights.diagonal(dim1=1, dim2=2))
        for metric, values in step.diagnostics.items():
            outcome.history.add(round, "none", metric, values)


def due(training: TrainingSettings, round: int) -> bool:
    """Tell whether a round is evaluated: every ``evaluate_every``-th, and the last."""
    return round % training.evaluate_every == 0 or round == training.rounds


def describe(problem: Problem, method: Method[Any], seeds: tuple[int, ...], place: Place) -> Cell:
    """Return what a method may know of the problem; a pooled method sees one client."""
    nodes = torch.from_numpy(problem.nodes_per_client)
    train = torch.from_numpy(problem.train_nodes_per_client)
    shapes = problem.shapes
    if method.pooled:
        nodes, train, shapes = nodes.sum().view(1), train.sum().view(1), (problem.pooled_shape,)
    return Cell(shapes, seeds, nodes, train, place.dtype, place.device)
