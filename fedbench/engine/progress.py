"""One line an evaluation on stderr: where a run is, how good, and when it will be done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from fedbench.configuration.run import RunName
from fedbench.engine.history import History


def log_progress(name: RunName, seeds: tuple[int, ...], rounds: int) -> Callable[[int, History], None]:
    """Return a callback that prints round, the clients' mean figure so far, and the time left."""
    started = time.perf_counter()

    def report(round: int, history: History) -> None:
        left = (time.perf_counter() - started) / round * (rounds - round)
        figures = "  ".join(f"{split} {_mean(history, split):6.2%}" for split in ("val", "test"))
        who = ",".join(map(str, seeds))
        print(f"{name} seed {who}  round {round:>4}/{rounds}  {figures}  ETA {left:6.1f} s", file=sys.stderr)

    return report


def _mean(history: History, split: str) -> float:
    """Return the mean over clients of the task's first figure of a split, in the latest round."""
    latest = history.entries[-1][0]
    values = next(v for round, s, _, v in history.entries if (round, s) == (latest, split))
    return float(np.nanmean(values))
