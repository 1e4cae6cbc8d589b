"""Benchmarks are found by name, and what they read off records and curves."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from benchmarks import run
from benchmarks.cases import growth, quick_suite
from benchmarks.measure import Usage
from benchmarks.ours import accuracies
from fedbench.engine.history import History


def test_every_case_can_be_run() -> None:
    assert "fedavg_openfgl" in run.names()
    assert all(callable(importlib.import_module(f"benchmarks.cases.{name}").run) for name in run.names())


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(SystemExit, match=r"no benchmark named speed; there are: .*growth"):
        run.chosen(["speed"])


def test_all_are_run_unless_some_are_named() -> None:
    assert run.chosen([]) == run.names()
    assert run.chosen(["growth"]) == ["growth"]


def test_proportional_growth_has_exponent_one() -> None:
    points = [growth.Point("fedavg", "clients", size, 2.0 * size, 100.0) for size in (5, 10, 20, 40)]
    assert growth.exponent(points, "round_ms") == pytest.approx(1.0)
    assert growth.exponent(points, "peak_mb") == pytest.approx(0.0)


def test_the_share_of_training_counts_all_cores() -> None:
    cost = {"training_seconds": 30.0, "evaluation_seconds": 5.0}
    header = {"costs": [cost, cost], "startup_seconds": 1.5}
    wall, share, of_cpu = quick_suite.rows(Usage(cpu_s=80.0, wall_s=50.0, peak_mb=1.0), [header])
    assert wall.ours == pytest.approx(50 / 60)
    assert share.ours == pytest.approx(60 / 100)
    assert of_cpu.ours == pytest.approx(60 / 80)


def test_accuracy_is_read_at_the_first_best_validation_round_weighted_by_nodes() -> None:
    torch = pytest.importorskip("torch")
    history = History((0,))
    for round, (val, test) in enumerate(
        [([0.5, 0.5], [0.1, 0.2]), ([0.9, 0.9], [0.4, 0.8]), ([0.9, 0.9], [0.0, 0.4])], 1
    ):
        history.add(round, "val", "accuracy", torch.tensor(val))
        history.add(round, "test", "accuracy", torch.tensor(test))
    read = accuracies(history, np.array([30, 10]))
    assert read["test_at_best_validation"] == pytest.approx(0.5)
    assert read["test_last"] == pytest.approx(0.1)
