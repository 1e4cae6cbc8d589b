"""What plain programs of methods are made of, and where they are found: ``tests/reference/methods/<name>.py``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tests.reference import methods
from tests.reference.federation import Plan
from tests.reference.networks import Masked, PlainFedAux, PlainGCN

Settings = Any
Shape = dict[str, Any]
"""features, classes, layers, width, readout, backbone, apv, masks, proxy, problem, seed."""


def everything(name: str) -> bool:
    """Everything that may leave a client: masks never do."""
    return not name.startswith("masks.")


def nothing(name: str) -> bool:
    return False


def average(modules: list[nn.Module]) -> Tensor:
    return torch.full((len(modules), len(modules)), 1.0 / len(modules), dtype=torch.float64)


def softmax_of_cosines(vectors: list[Tensor], scale: float) -> Tensor:
    rows = []
    for a in vectors:
        cosines = torch.stack([torch.dot(a, b) / (a.norm() * b.norm()) for b in vectors])
        rows.append(torch.softmax(scale * cosines, dim=0))
    return torch.stack(rows).double()


def plain(shape: Shape) -> nn.Module:
    """The protocol's network, with masks if the protocol says so."""
    return Masked(bare(shape)) if shape["masks"] else bare(shape)


def masked(shape: Shape, inner: nn.Module, threshold: float = 0.0) -> nn.Module:
    """The network of a method that has masks, unless the protocol takes them away."""
    return inner if shape["masks"] is False else Masked(inner, threshold)


def bare(shape: Shape) -> PlainGCN:
    if shape["apv"]:
        size = (shape["features"], shape["classes"], shape["layers"], shape["width"])
        return PlainFedAux(*size, 1.0, "inner_product", shape["backbone"])
    return PlainGCN(
        shape["features"], shape["classes"], shape["layers"], shape["width"], shape["readout"], shape["backbone"]
    )


def plan_names() -> set[str]:
    return {module.name for module in pkgutil.iter_modules(methods.__path__)}


def plan_of(name: str) -> Callable[[Settings, Shape], Plan]:
    module = importlib.import_module(f"tests.reference.methods.{name}")
    found: Callable[[Settings, Shape], Plan] = module.plan
    return found


def small_settings(name: str) -> dict[str, Any]:
    """Return what makes a method small enough for tests: ``SMALL`` of its plain program's module, if any."""
    module = importlib.import_module(f"tests.reference.methods.{name}")
    return dict(getattr(module, "SMALL", {}))
