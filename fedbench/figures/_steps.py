"""Local steps that all clients together have taken by a round."""

from __future__ import annotations

from math import ceil

import numpy as np

from fedbench.errors import RecordError
from fedbench.figures._scene import Scene
from fedbench.files import read_arrays
from fedbench.records.check import run_of
from fedbench.stats.cells import Cell
from fedbench.stats.curve import by_client, has_figure

EPOCHS = "local_epochs"


def steps_by_round(scene: Scene, cell: Cell) -> np.ndarray:
    """Return the optimiser steps of all clients up to each evaluated round, float64[rounds], mean over seeds.

    A client's step is one batch: the partition says how many training points it has, the settings how large a batch
    is. Local epochs are those that the record states by round and client, else the settings'.

    Raises:
        DataError: the partition file is missing or damaged.
        RecordError: epochs are stated for other rounds than the last ones of training, one after another.
    """
    training = cell.records[0].header.settings["training"]
    batches = _batches(scene, cell, training["batch_size"])
    rounds, epochs = _epochs(cell, training, len(batches))
    steps = np.cumsum(epochs @ batches)
    return np.array(steps[np.array(rounds) - 1])


def _batches(scene: Scene, cell: Cell, size: int | None) -> np.ndarray:
    """Return each client's batches an epoch, int64[clients]."""
    if size is None:
        return np.ones(cell.records[0].header.clients, dtype=np.int64)
    _, meta = read_arrays(scene.results / "partitions" / cell.run.dataset / f"{cell.run.partition}.npz")
    return np.array([ceil(points / size) for points in meta["train"]])


def _epochs(cell: Cell, training: dict[str, int], clients: int) -> tuple[tuple[int, ...], np.ndarray]:
    """Return the evaluated rounds, and the local epochs of every round and client, float64[rounds, clients]."""
    if not has_figure(cell.records, EPOCHS, "none"):
        every = training["evaluate_every"]
        last = training["rounds"]
        rounds = tuple(round for round in range(1, last + 1) if round % every == 0 or round == last)
        return rounds, np.full((last, clients), float(training["local_epochs"]))
    _, rounds, values = by_client(cell.records, EPOCHS, "none")
    if rounds != tuple(range(1, len(rounds) + 1)):
        raise RecordError(
            f"count the local steps of {run_of(cell.records[0].header)}",
            found=f"local epochs of {len(rounds)} rounds up to {rounds[-1]}",
            allowed="every round, from 1",
            remedy="evaluate every round (`training.evaluate_every: 1`)",
        )
    return rounds, values.mean(axis=0)
