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
    started, before = time.perf_counter(), -1

    def report(round: int, history: History) -> None:
        nonlocal before
        before = _evaluated_before(round, history) if before < 0 else before
        left = (time.perf_counter() - started) / (round - before) * (rounds - round)
        figures = "  ".join(f"{split} {_mean(history, split):6.2%}" for split in ("val", "test"))
        who = ",".join(map(str, seeds))
        print(f"{name} seed {who}  round {round:>4}/{rounds}  {figures}  ETA {left:6.1f} s", file=sys.stderr)

    return report


def _evaluated_before(round: int, history: History) -> int:
    """Return the latest round evaluated before this one: not 0 at the first report of a run that was resumed."""
    return max((number for number, *_ in history.entries if number < round), default=0)


def _mean(history: History, split: str) -> float:
    """Return the mean over clients of the task's first figure of a split, in the latest round."""
    latest = history.entries[-1][0]
    values = next(v for round, s, _, v in history.entries if (round, s) == (latest, split))
    return float(np.nanmean(values))
