"""What holds for every method of recommendation that the registry knows, found by itself.

A new method fails here until ``tests/reference/methods/<name>.py`` has its plain program.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedbench.configuration.method import load_method_file
from fedbench.engine.cohort import start_cohort
from fedbench.engine.history import History
from fedbench.engine.run import describe, run
from fedbench.errors import ConfigurationError
from fedbench.methods.base import Method
from fedbench.methods.registry import method_names
from fedbench.tasks.rec.arrays import RecProblem
from fedbench.tasks.rec.task import TASK
from tests.reference.match import CONFIGS, SMALL, cases, method_of, series
from tests.reference.plans import rec_program_of, users_and_items_of
from tests.reference.rec import DOUBLE
from tests.tasks.rec.toys import toy_rec, uneven, without_training_pairs

METHODS = [name for name in method_names() if "rec" in load_method_file(name, CONFIGS).tasks]
COMPARED = cases("rec")
CASES = [pytest.param(*case, id=f"{case[0]}-{case[1]}{case[2] or ''}") for case in COMPARED]
NETWORKS = [(name, variant) for name, variant, own in COMPARED if name == "local" and not own]
"""Local with each backbone."""
EACH = list(
    dict.fromkeys([*((name, next(iter(load_method_file(name, CONFIGS).variants))) for name in METHODS), *NETWORKS])
)


def small(name: str, variant: str, own: dict[str, Any] | None = None) -> Method[Any]:
    return method_of(name, variant, SMALL["rec"], own)


@pytest.mark.parametrize("name", METHODS)
def test_a_plain_program_is_compared(name: str) -> None:
    assert callable(rec_program_of(name))
    assert name in {case[0] for case in COMPARED}


@pytest.mark.parametrize(("name", "variant", "own"), CASES)
def test_three_rounds_are_those_of_the_plain_program(name: str, variant: str, own: dict[str, Any]) -> None:
    method, problem = small(name, variant, own), uneven(*users_and_items_of(name))
    plain, ours = rec_program_of(name)(method, problem, 3), run(method, problem, (3,), DOUBLE).history
    for metric, place in (("recall@20", 0), ("ndcg@20", 1)):
        close(series(ours, "test", metric), plain.figures[:, :, place], plain.of_figures)
    for metric, values in plain.further.items():
        close(series(ours, "none", metric), values, plain.tolerance)
    if plain.losses is not None:
        close(series(ours, "train", "loss"), plain.losses, plain.tolerance)
        assert not np.allclose(plain.losses[0], plain.losses[-1], rtol=1e-3)


def close(found: np.ndarray, expected: np.ndarray, tolerance: tuple[float, float]) -> None:
    """Compare figures by round; what never changes may stand there once."""
    expected = np.broadcast_to(expected, found.shape)
    assert np.allclose(found[0], expected[0], rtol=tolerance[0], atol=tolerance[0])
    assert np.allclose(found, expected, rtol=tolerance[1], atol=tolerance[1])


def alike(history: History, other: History, seed: int = 0) -> None:
    """Compare all figures; ``other`` may have several seeds, of which ``seed`` is the place."""
    assert [entry[:3] for entry in history.entries] == [entry[:3] for entry in other.entries]
    for (*_, metric, values), (*_, others) in zip(history.entries, other.entries, strict=True):
        own = others.reshape(len(other.seeds), -1)[seed]
        assert np.allclose(values, own, rtol=1e-9, atol=1e-9, equal_nan=True), metric


@pytest.mark.parametrize("shared", [0, 6, 7])
@pytest.mark.parametrize(("name", "variant"), EACH)
def test_seeds_together_are_seeds_apart(name: str, variant: str, shared: int) -> None:
    """Clients of one size (none or 6 items common) are packed with the seeds; with 7 they differ in size."""
    problem, method = toy_rec(12, 42, shared=shared), small(name, variant)
    if not method.pooled and shared == 7 and has_stacks(method, problem):
        with pytest.raises(ConfigurationError, match="one seed at a time"):
            run(method, problem, (2, 5), DOUBLE)
        return
    apart, together = run(method, problem, (5,), DOUBLE), run(method, problem, (2, 5), DOUBLE)
    alike(apart.history, together.history, seed=1)


def has_stacks(method: Method[Any], problem: RecProblem) -> bool:
    """Tell whether clients have parameters of one shape, whatever their sizes."""
    cell = describe(problem, method, (5,), DOUBLE)
    return bool(start_cohort(cell, method, problem, method.prepare(problem, cell).data).parameters)


@pytest.mark.parametrize(("name", "variant"), EACH)
def test_clients_together_are_clients_alone(name: str, variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, method = toy_rec(12, 42, shared=0), small(name, variant)
    alone = run(method, problem, (3,), DOUBLE)
    monkeypatch.setitem(TASK.__dict__, "packs_on_cpu", True)
    together = run(method, problem, (3,), DOUBLE)
    alike(alone.history, together.history)
    assert (alone.bytes_up, alone.bytes_down) == (together.bytes_up, together.bytes_down)


@pytest.mark.parametrize(("name", "variant"), EACH)
def test_a_client_may_have_no_training_pair(name: str, variant: str) -> None:
    problem, method = without_training_pairs(toy_rec(12, 42, shared=6), 1), small(name, variant)
    figures = series(run(method, problem, (0,), DOUBLE).history, "test", "ndcg@20")
    assert problem.client_data[1].train.size == 0 and np.isfinite(figures).all()
