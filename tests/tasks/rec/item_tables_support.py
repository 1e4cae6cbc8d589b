"""FedMF, F2MF, PFedRec, FedRAP and FED-PUB on recommendation, on a small schedule."""

from __future__ import annotations

from typing import Any

import torch

from fedbench.configuration.merge import merged
from fedbench.configuration.method import load_method_file
from fedbench.configuration.protocol import TrainingSettings
from fedbench.methods.base import Method
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.plans import small_settings
from tests.tasks.rec.conftest import CONFIGS

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
