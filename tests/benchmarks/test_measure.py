"""Measuring processes and calls."""

from __future__ import annotations

import sys

import pytest

from benchmarks.measure import alternate, run_process


def test_a_process_is_charged_its_own_cpu_time() -> None:
    usage = run_process([sys.executable, "-c", "sum(range(3_000_000))"])
    assert 0.01 < usage.cpu_s < 10
    assert usage.wall_s > 0
    assert usage.peak_mb > 1


def test_a_failed_process_says_what_it_printed() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)exit 3.*the reason"):
        run_process([sys.executable, "-c", "print('the reason'); raise SystemExit(3)"])


def test_variables_reach_the_process() -> None:
    run_process(
        [sys.executable, "-c", "import os; assert os.environ['A'] == os.environ['OMP_NUM_THREADS']"], {"A": "1"}
    )


def test_sides_are_called_in_turn() -> None:
    order: list[str] = []
    sides = {"ours": lambda: order.append("ours"), "other": lambda: order.append("other")}
    assert alternate(sides, 2) == {"ours": [None, None], "other": [None, None]}
    assert order == ["ours", "other", "ours", "other"]
