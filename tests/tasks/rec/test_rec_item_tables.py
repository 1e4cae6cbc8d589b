"""FedMF, F2MF, PFedRec, FedRAP and FED-PUB on recommendation: plain programs, and what leaves a client."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch

from fedbench.configuration.merge import merged
from fedbench.configuration.method import load_method_file
from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.run import describe, run
from fedbench.methods.base import Method
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.reference.plans import cases_of, small_settings
from tests.reference.rec import federate
from tests.tasks.rec.conftest import CONFIGS
from tests.tasks.rec.toys import toy_rec

DOUBLE = Place(torch.float64)
NAMES = ("fedmf", "f2mf", "pfedrec", "fedrap", "fedpub_rec")
SMALL: dict[str, Any] = {
    "task": "rec", "rounds": 3, "local_epochs": 2, "batch_size": 15, "weight_decay": 0.0, "evaluate_every": 1,
    "model": {"layers": 2, "width": 4, "dropout": 0.0, "embedding": {"deviation": 0.3}},
}  # fmt: skip


def method_of(name: str, variant: str = "default", own: Any = None, training: Any = None) -> Method[Any]:
    """Return a method as its variant says, on a small schedule."""
    chosen = load_method_file(name, CONFIGS).variants[variant]
    values = merged(merged(chosen.training, SMALL), training or {})
    settings = merged(merged(chosen.method, small_settings(name)), own or {})
    return build(name, settings, TrainingSettings.model_validate(values))


def cases() -> list[Any]:
    found = [(name, variant, {}) for name in NAMES for variant in load_method_file(name, CONFIGS).variants]
    found += [(name, "default", own) for name in NAMES for own in cases_of(name)]
    methods = [method_of(*case) for case in found]
    once = {f"{m.settings!r} {m.training!r}": case for m, case in reversed(list(zip(methods, found, strict=True)))}
    return [pytest.param(*case, id=f"{case[0]}-{case[1]}{case[2] or ''}") for case in reversed(once.values())]


@pytest.mark.parametrize(("name", "variant", "own"), cases())
def test_three_rounds_are_those_of_a_plain_program(name: str, variant: str, own: dict[str, Any]) -> None:
    rates = {"ranking": {"l2": 0.05}} | ({"learning_rate": 0.02} if name in ("fedmf", "f2mf") else {})
    method, problem = method_of(name, variant, own, rates), toy_rec(12, 42, shared=6)
    program = importlib.import_module(f"tests.reference.methods.{name}").Program
    cell = describe(problem, method, (3,), DOUBLE)
    networks = [method.network(cell, k) for k in range(problem.clients)]
    plain = program(method.settings, method.training, problem, 3)
    losses, figures, _ = federate(plain, problem, networks, method.training, 3)
    ours = run(method, problem, (3,), DOUBLE).history
    assert np.allclose(series(ours, "train", "loss"), losses, rtol=1e-9, atol=1e-9)
    assert np.allclose(series(ours, "test", "recall@20"), figures[:, :, 0], atol=1e-12)
    assert np.allclose(series(ours, "test", "ndcg@20"), figures[:, :, 1], atol=1e-12)
    assert not np.allclose(losses[0], losses[2], rtol=1e-3)
