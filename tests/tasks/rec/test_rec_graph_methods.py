"""What FedPerGNN, FedHGNN and FedSSP promise alike: resuming, and that runs repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedbench.engine.checkpoint import Checkpoints
from fedbench.engine.run import Outcome, describe, run
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.tasks.rec.test_rec_training import training
from tests.tasks.rec.toys import toy_rec

SETTINGS: dict[str, dict[str, Any]] = {
    "fedpergnn": {"neighbours": 3, "expanded_after": 1},
    "fedhgnn": {"groups": 4, "vectors": 3, "neighbours": 5},
    "fedssp_rec": {"width": 8, "heads": 2},
}


class KilledError(Exception):
    """Stands for a kill."""


def killed(now: int, history: object) -> None:
    if now == 3:
        raise KilledError


def method_of(name: str) -> Any:
    model = {"width": 4, "layers": 2, "embedding": {"frequencies": 6}}
    return build(name, SETTINGS[name], training(model=model, rounds=4))


def assert_same(one: Outcome, other: Outcome) -> None:
    columns, others = one.history.columns(0), other.history.columns(0)
    assert all(np.array_equal(columns[n], others[n], equal_nan=n == "value") for n in columns)
    assert (one.steps, one.bytes_up, one.bytes_down) == (other.steps, other.bytes_up, other.bytes_down)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_killed_run_goes_on_as_if_nothing_had_happened(name: str, tmp_path: Path) -> None:
    problem, path = toy_rec(24, 60, shared=8), tmp_path / "state.npz"
    with pytest.raises(KilledError):
        run(method_of(name), problem, (0,), Place(), killed, Checkpoints(path, seconds=0))
    assert path.exists()
    whole = run(method_of(name), problem, (0,), Place())
    assert_same(run(method_of(name), problem, (0,), Place(), None, Checkpoints(path, seconds=1e9)), whole)
    assert_same(run(method_of(name), problem, (0,), Place()), whole)


@pytest.mark.parametrize("name", SETTINGS)
def test_prepared_clients_are_asked_for_the_same(name: str) -> None:
    """Test pairs with items that a client hasn't are counted too, whatever a method adds to its pairs."""
    problem, method = toy_rec(24, 60, shared=8), method_of(name)
    data = method.prepare(problem, describe(problem, method, (0,), Place())).data[0]
    for own, client in zip(data, problem.client_data, strict=True):
        assert np.array_equal(own.test_pairs, client.test_pairs)
        assert client.test_pairs.sum() > client.test.shape[1]
