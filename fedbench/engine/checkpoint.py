"""A run's state between two rounds, on disk: a killed run goes on from there, to the last bit.

Random streams are named by (seed, client, round, epoch, step), so parameters, optimiser state, the method's memory and
what was measured are all there is. Arrays without pickle; a damaged checkpoint is an error, not a fresh start.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from fedbench.engine.memory_tree import NotPlainError, leaves, rebuilt
from fedbench.files import read_arrays, write_arrays

if TYPE_CHECKING:
    from fedbench.engine.run import Outcome, Running

SECONDS = 300.0  # between checkpoints: short runs write none
_COUNTS = ("steps", "bytes_up", "bytes_down", "training_seconds", "evaluation_seconds")


class Elapsed:
    """Seconds since the run's first start, attempts before this one included."""

    def __init__(self, wall: float = 0.0, cpu: float = 0.0) -> None:
        self._wall, self._cpu = time.perf_counter() - wall, time.process_time() - cpu
        self.last = time.perf_counter()

    @property
    def elapsed(self) -> tuple[float, float]:
        """Wall and CPU seconds."""
        return time.perf_counter() - self._wall, time.process_time() - self._cpu

    @property
    def since_last(self) -> float:
        """Wall seconds since the newest checkpoint."""
        return time.perf_counter() - self.last


@dataclass
class Checkpoints:
    """Writes a run's state to one file, again and again.

    Args:
        path: the file; it holds the newest checkpoint.
        seconds: least wall time between two.
    """

    path: Path
    seconds: float = field(default_factory=lambda: SECONDS)
    _clock: Elapsed = field(default_factory=Elapsed)
    _possible: bool = True

    def restore(self, running: Running) -> int:
        """Bring a fresh run to the newest checkpoint; return its round, 0 if there is none.

        Raises:
            DataError: the file is damaged.
        """
        if not self.path.exists():
            return 0
        arrays, meta = read_arrays(self.path)
        with torch.no_grad():
            for name, live in _live(running):
                live.copy_(torch.from_numpy(arrays[name]))
        for number, pack in enumerate(running.cohort.packs):
            pack.optimiser.restore(_below(f"optimiser/{number}/", arrays))
        memory, device = _below("memory/", arrays), running.cohort.cell.device
        running.memory = rebuilt(running.memory, memory, meta["memory"], device)
        _restore_outcome(running.outcome, arrays, meta)
        self._clock = Elapsed(meta["wall_seconds"], meta["cpu_seconds"])
        running.outcome.earlier_seconds = (meta["wall_seconds"], meta["cpu_seconds"])
        return int(meta["round"])

    def offer(self, running: Running, round: int) -> None:
        """Write a checkpoint after a round if it is time to."""
        if not self._possible or self._clock.since_last < self.seconds:
            return
        try:
            memory, plain = leaves(running.memory)
        except NotPlainError as reason:
            self._possible = False
            print(f"no checkpoints: the method's memory holds {reason}; a killed run starts again", file=sys.stderr)
            return
        arrays = {name: _array(live) for name, live in _live(running)}
        for number, pack in enumerate(running.cohort.packs):
            arrays |= {f"optimiser/{number}/{name}": _array(t) for name, t in pack.optimiser.state().items()}
        arrays |= {f"memory/{name}": _array(tensor) for name, tensor in memory.items()}
        wall, cpu = self._clock.elapsed
        meta = {"round": round, "memory": plain, "wall_seconds": wall, "cpu_seconds": cpu}
        write_arrays(self.path, arrays | _measured(running.outcome), meta | _counts(running.outcome))
        self._clock.last = time.perf_counter()

    def forget(self) -> None:
        """Remove the file: the run is finished."""
        self.path.unlink(missing_ok=True)


def _live(running: Running) -> Iterator[tuple[str, Tensor]]:
    """Yield every trained stack; those that clients share are views into the cohort's."""
    for number, pack in enumerate(running.cohort.packs):
        yield from ((f"parameter/{number}/{name}", stack) for name, stack in pack.parameters.items())


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def _below(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): torch.from_numpy(a) for n, a in arrays.items() if n.startswith(prefix)}


def _measured(outcome: Outcome) -> dict[str, np.ndarray]:
    entries = outcome.history.entries
    found = {f"measured/{number}": values for number, (*_, values) in enumerate(entries)}
    return found | {f"mixing/{round}": _array(weights) for round, weights in outcome.mixing.items()}


def _counts(outcome: Outcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in _COUNTS} | {"entries": [e[:3] for e in outcome.history.entries]}


def _restore_outcome(outcome: Outcome, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
    for name in _COUNTS:
        setattr(outcome, name, meta[name])
    device = outcome.cell.device
    outcome.mixing = {int(round): weights.to(device) for round, weights in _below("mixing/", arrays).items()}
    outcome.history.entries = [
        (round, split, metric, arrays[f"measured/{number}"])
        for number, (round, split, metric) in enumerate(meta["entries"])
    ]
