"""Checkpoints: a run that goes on from one equals a run that was never stopped, to the last bit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fedbench.configuration.merge import merged
from fedbench.configuration.method import load_method_file
from fedbench.engine.checkpoint import Checkpoints
from fedbench.engine.memory_tree import NotPlainError, leaves, rebuilt
from fedbench.engine.run import Outcome, run
from fedbench.errors import DataError
from fedbench.methods.base import Method
from fedbench.tasks.task import Place
from tests.reference.match import CONFIGS, SMALL, cases, method_of
from tests.reference.plans import plan_names, tasks_of
from tests.tasks.rec.toys import toy_rec
from tests.tasks.toy_graphs import toy_graphs
from tests.toys import toy_problem

PLACE = Place()
PROBLEMS: dict[str, Any] = {"node": toy_problem, "graph": toy_graphs}
WITHOUT = {"gcfl", "gcfl_plus"}
"""Methods whose memory holds more than tensors and numbers: a killed run of theirs starts again."""
REC: dict[str, Any] = {
    "task": "rec", "rounds": 5, "local_epochs": 1, "evaluate_every": 1, "batch_size": 16, "weight_decay": 0.0,
    "model": {"layers": 2, "width": 4, "dropout": 0.0, "embedding": {"frequencies": 6}},
}  # fmt: skip
OF_REC = [
    *((name, {}) for name in sorted(plan_names()) if "rec" in tasks_of(name)),
    *((name, {}) for name in ("centralised", "fedavg", "fedper", "local", "self_weight")),
    ("lpsfed", {"margin": {"mean": "last_batch"}}),
]
"""Methods of recommendation, and those of every task; of the former another has a memory by its settings."""


class KilledError(Exception):
    """Stands for a kill."""


def killed_after(round: int) -> Any:
    def progress(now: int, history: object) -> None:
        if now == round + 1:
            raise KilledError

    return progress


def resumed(method: Method[Any], problem: Any, folder: Path, seeds: tuple[int, ...]) -> Outcome:
    """Kill a run in its fourth round, after the third one's checkpoint, and go on."""
    path = folder / "state.npz"
    with pytest.raises(KilledError):
        run(method, problem, seeds, PLACE, killed_after(3), Checkpoints(path, seconds=0))
    assert path.exists()
    return run(method, problem, seeds, PLACE, None, Checkpoints(path, seconds=1e9))


def assert_same(one: Outcome, other: Outcome) -> None:
    for seed in one.cell.seeds:
        columns, others = one.history.columns(seed), other.history.columns(seed)
        assert all(np.array_equal(columns[n], others[n], equal_nan=n == "value") for n in columns)
    assert (one.steps, one.bytes_up, one.bytes_down) == (other.steps, other.bytes_up, other.bytes_down)
    assert one.mixing.keys() == other.mixing.keys()
    assert all(torch.equal(one.mixing[r], other.mixing[r]) for r in one.mixing)


@pytest.mark.parametrize(
    ("task", "name", "variant", "settings"),
    [
        (task, *case)
        for task in PROBLEMS
        for case in cases(task)
        if case[0] not in WITHOUT | {"majority", "fedsage_plus"}
    ],
)
def test_every_method_goes_on_as_if_nothing_had_happened(
    task: str, name: str, variant: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    method, problem = method_of(name, variant, SMALL[task] | {"rounds": 5}, settings), PROBLEMS[task]()
    seeds = (0, 1) if task == "node" else (0,)  # clients of different widths are computed one seed at a time
    assert_same(resumed(method, problem, tmp_path, seeds), run(method, problem, seeds, PLACE))


@pytest.mark.parametrize(("seeds", "shared"), [((0, 1), 6), ((0,), 8)], ids=["one pack", "a pack a client"])
@pytest.mark.parametrize(("name", "settings"), OF_REC)
def test_every_method_of_recommendation_does_so_too(
    name: str, settings: dict[str, Any], seeds: tuple[int, ...], shared: int, tmp_path: Path
) -> None:
    variant, chosen = next(iter(load_method_file(name, CONFIGS).variants.items()))
    backbone = chosen.training.get("model", {}).get("backbone", "lightgcn")
    method = method_of(name, variant, merged(REC, {"model": {"backbone": backbone}}), settings)
    problem = toy_rec(24, 60, shared=shared)  # with 6 common items clients are of equal size, as seeds together need
    assert_same(resumed(method, problem, tmp_path, seeds), run(method, problem, seeds, PLACE))


@pytest.mark.parametrize("name", sorted(WITHOUT))
def test_a_memory_that_cannot_be_written_says_so_once(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    method = method_of(name, "default", SMALL["node"] | {"rounds": 3})
    run(method, toy_problem(), (0,), PLACE, None, Checkpoints(tmp_path / "state.npz", seconds=0))
    assert not any(tmp_path.iterdir())
    assert capsys.readouterr().err.count("a killed run starts again") == 1


def test_time_of_earlier_attempts_counts(tmp_path: Path) -> None:
    outcome = resumed(method_of("fedavg", "default", SMALL["node"]), toy_problem(), tmp_path, (0,))
    wall, cpu = outcome.earlier_seconds
    assert wall > 0 and cpu > 0
    assert run(method_of("fedavg", "default", SMALL["node"]), toy_problem(), (0,), PLACE).earlier_seconds == (0, 0)


def test_checkpoints_are_written_when_it_is_time(tmp_path: Path) -> None:
    method = method_of("fedavg", "default", SMALL["node"])
    run(method, toy_problem(), (0,), PLACE, None, Checkpoints(tmp_path / "state.npz", seconds=1e9))
    assert not any(tmp_path.iterdir())


def test_a_damaged_checkpoint_is_an_error_and_not_a_fresh_start(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    path.write_bytes(b"half a file")
    with pytest.raises(DataError, match=r"state\.npz"):
        run(method_of("fedavg", "default", SMALL["node"]), toy_problem(), (0,), PLACE, None, Checkpoints(path))


@dataclass(frozen=True)
class Inner:
    rates: list[float]


@dataclass
class Memory:
    model: dict[str, torch.Tensor]
    inner: Inner
    round: int = 0


def test_a_memory_comes_back_with_what_it_had_learnt() -> None:
    tensors, plain = leaves(Memory({"w": torch.ones(2)}, Inner([0.5, 1.0]), 7))
    found = rebuilt(Memory({}, Inner([])), tensors, plain, torch.device("cpu"))
    assert (found.inner, found.round, found.model["w"].tolist()) == (Inner([0.5, 1.0]), 7, [1.0, 1.0])


def test_tensors_that_a_new_start_lacks_go_where_the_run_is() -> None:
    tensors, plain = leaves(Memory({"w": torch.ones(2)}, Inner([])))
    assert rebuilt(Memory({}, Inner([])), tensors, plain, torch.device("meta")).model["w"].device.type == "meta"
    started = Memory({"w": torch.zeros(2)}, Inner([]))
    assert rebuilt(started, tensors, plain, torch.device("meta")).model["w"].device.type == "cpu"


@pytest.mark.parametrize("held", [{1: 2}, (1,), object(), [Inner([])]])
def test_what_is_not_plain_is_named(held: Any) -> None:
    with pytest.raises(NotPlainError, match="inner"):
        leaves(Memory({}, held))
