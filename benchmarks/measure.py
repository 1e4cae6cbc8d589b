"""Measure processes and calls in CPU seconds, the two sides in alternation."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Usage:
    """What a finished process cost, its children included."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def run_process(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> Usage:
    """Run a command to its end, one thread, and return what it cost.

    Raises:
        RuntimeError: it failed; the message has the end of what it printed.
    """
    variables = os.environ | ONE_THREAD | dict(environment or {})
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen([*map(str, command)], stdout=output, stderr=subprocess.STDOUT, env=variables)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit {process.returncode}\n{_end_of(output)}")
    return Usage(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def _end_of(output: object, length: int = 2000) -> str:
    output.seek(0)  # type: ignore[attr-defined]
    return str(output.read()[-length:].decode(errors="replace"))  # type: ignore[attr-defined]


def alternate(sides: Mapping[str, Callable[[], T]], repeats: int) -> dict[str, list[T]]:
    """Call each side in turn, ``repeats`` times, so that a drift of the machine meets all of them."""
    results: dict[str, list[T]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            results[name].append(side())
    return results


def cpu_ms(call: Callable[[], object]) -> float:
    """Return the CPU milliseconds of one call."""
    start = time.process_time()
    call()
    return 1000 * (time.process_time() - start)
