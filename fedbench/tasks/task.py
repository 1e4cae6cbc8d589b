"""What tells tasks apart: how clients' data are read and laid out, a local epoch's steps, how a model is evaluated.

A task is a package ``fedbench/tasks/<name>`` whose module ``task`` holds ``TASK``; it is found by name, so that a
task's code counts for its own runs only.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from fedbench.configuration.protocol import ModelSettings, TrainingSettings
from fedbench.models.network import Network
from fedbench.models.parameters import Parameters

Figures = dict[tuple[str, str], Tensor]
"""(metric, split) to a figure of every client that is evaluated."""
Member = tuple[int, int]
"""A packed client: (run seed, client)."""


@dataclass(frozen=True)
class Shape:
    """Widths of a client's data: ``features`` in, ``classes`` out."""

    features: int
    classes: int


@dataclass(frozen=True)
class Place:
    """Precision and device of a run."""

    dtype: torch.dtype = torch.float32
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))


class Problem(Protocol):
    """A data set and its partition."""

    @property
    def clients(self) -> int:
        """Number of clients K."""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Widths of every client's data."""

    @property
    def pooled_shape(self) -> Shape:
        """Widths of `pooled_data`."""

    @property
    def nodes_per_client(self) -> np.ndarray:
        """Data points a client, int64[K]."""

    @property
    def train_nodes_per_client(self) -> np.ndarray:
        """Training data points a client, int64[K]."""

    @property
    def client_data(self) -> Sequence[Any]:
        """Every client's data, as the task's `Task.pack` takes them."""

    def pooled_data(self) -> Any:
        """Return all clients' data as one client's."""


class Block(Protocol):
    """Clients computed in one step, padded to ``slots`` rows each.

    ``sizes``: rows of each packed client. ``device``: where it lives.
    """

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each packed client."""

    @property
    def slots(self) -> int:
        """Rows a client after padding."""

    @property
    def device(self) -> torch.device:
        """Where it lives."""

    def loss(self, outputs: Tensor) -> Tensor:
        """Return the loss of each packed client, [clients]."""


@dataclass(frozen=True)
class Step:
    """One local step: its data, and who takes it (bool [clients]; None: everyone who still trains)."""

    block: Any
    takes: Tensor | None = None


class Evaluator(Protocol):
    """Measures models."""

    def figures(self, network: Network, effective: Parameters, block: Any, last: bool) -> Figures:
        """Return the figures of the packed clients, flat [S * k].

        Args:
            network: theirs.
            effective: their parameters as evaluated, [S * k, ...].
            block: their data, as they see them.
            last: whether the run ends here.
        """


class Task(Protocol):
    """A task.

    ``packs_on_cpu``: whether computing clients together is a gain on a CPU too. ``pads_widths``: whether clients of
    unlike widths can be computed together, padded to the widest.
    """

    @property
    def packs_on_cpu(self) -> bool:
        """Tell whether clients are packed on a CPU."""

    @property
    def pads_widths(self) -> bool:
        """Tell whether blocks give padding no feature, and absent classes no probability."""

    def load(self, dataset_file: Path, partition_file: Path) -> Problem:
        """Read a data set and a partition.

        Raises:
            DataError: a file is missing or damaged, or the partition is of another data set.
        """

    def network(self, shape: Shape, model: ModelSettings, **choices: Any) -> Network:
        """Return the protocol's network for a client's widths; ``choices`` are the method's (head, masks)."""

    def pack(self, data: Sequence[Sequence[Any]], problem: Any, model: ModelSettings, place: Place) -> Any:
        """Lay out some clients' data, a list for each seed computed at once, as a block."""

    def steps(
        self, block: Any, training: TrainingSettings, members: Sequence[Member], round: int, epoch: int
    ) -> Iterator[Step]:
        """Yield the steps of a local epoch.

        Args:
            block: the packed clients' data.
            training: batch size and the like.
            members: who is packed.
            round: communication round, from 1.
            epoch: local epoch, from 0.
        """

    def evaluator(self, problem: Any, training: TrainingSettings, place: Place) -> Evaluator:
        """Return the evaluation that the protocol names."""


def task_named(name: str) -> Task:
    """Return a task (`TrainingSettings.task`)."""
    task: Task = importlib.import_module(f"fedbench.tasks.{name}.task").TASK
    return task
