"""What plain programs of methods are made of, and where they are found: ``tests/reference/methods/<name>.py``.

A plan's file holds ``plan(settings, shape)`` for nodes and graphs, ``rec(method, problem, seed)`` for recommendation
(`tests.reference.rec`), and where it needs them ``TASKS``, the tasks that the method is for (absent: node), ``SMALL``,
settings that make it small enough for tests, ``CASES``, settings to compare beside the configured variants, and for
recommendation ``TRAINING``, what a protocol says for it, ``USERS_AND_ITEMS``, the problem's size, and ``SWEPT``, how
variants start that are another's program with other numbers.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from tests.reference import methods
from tests.reference.clients import Client
from tests.reference.federation import Plan
from tests.reference.networks import Masked, PlainFedAux, PlainGCN, PlainGIN

Settings = Any
Shape = dict[str, Any]
"""task, features, classes, layers, width, readout, backbone, apv, masks, dtype, client; and of the cell proxy, problem,
seed, rounds, training. A plan gets the first client's, its ``make`` each client's own."""
PRIVATE = ("masks.", "input.", "post.", "classifier.")
"""Masks, and the ends of a graph network."""


def everything(name: str) -> bool:
    """Everything that may leave a client."""
    return not name.startswith(PRIVATE)


def nothing(name: str) -> bool:
    return False


def average(modules: list[nn.Module]) -> Tensor:
    return torch.full((len(modules), len(modules)), 1.0 / len(modules), dtype=torch.float64)


def sizes(weights: str, graphs: list[Client]) -> list[float]:
    """Return the clients' sizes as a setting ``weights`` counts them; a data point is a node or a graph."""
    counts: dict[str, Callable[[Client], float]] = {
        "uniform": lambda graph: 1.0,
        "nodes": lambda graph: float(len(graph.y)),
        "train_nodes": lambda graph: float((graph.split == 0).sum()),
    }
    return [counts[weights](graph) for graph in graphs]


def softmax_of_cosines(vectors: list[Tensor], scale: float) -> Tensor:
    rows = []
    for a in vectors:
        cosines = torch.stack([torch.dot(a, b) / (a.norm() * b.norm()) for b in vectors])
        rows.append(torch.softmax(scale * cosines, dim=0))
    return torch.stack(rows).double()


def plain(shape: Shape) -> nn.Module:
    """The protocol's network, with masks if the protocol says so."""
    if shape["task"] == "graph":
        return PlainGIN(shape["features"], shape["classes"], shape["layers"], shape["width"])
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


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"tests.reference.methods.{name}")


def plan_of(name: str) -> Callable[[Settings, Shape], Plan]:
    found: Callable[[Settings, Shape], Plan] = _module(name).plan
    return found


def rec_program_of(name: str) -> Callable[[Any, Any, int], Any]:
    """Return a method's plain program of recommendation, (method, problem, seed) to its trace."""
    found: Callable[[Any, Any, int], Any] = _module(name).rec
    return found


def tasks_of(name: str) -> tuple[str, ...]:
    """Return the tasks that a method is for."""
    return getattr(_module(name), "TASKS", ("node",))


def cases_of(name: str) -> list[dict[str, Any]]:
    """Return the further settings to compare."""
    return list(getattr(_module(name), "CASES", ()))


def training_of(name: str) -> dict[str, Any]:
    """Return what a protocol of recommendation says for a method."""
    return dict(getattr(_module(name), "TRAINING", {}))


def users_and_items_of(name: str) -> tuple[int, int]:
    """Return the size of the problem on which a method of recommendation is compared."""
    found: tuple[int, int] = getattr(_module(name), "USERS_AND_ITEMS", (15, 45))
    return found


def is_swept(name: str, variant: str) -> bool:
    """Tell whether a variant is another's program with other numbers."""
    return variant.startswith(tuple(getattr(_module(name), "SWEPT", ())))


def small_settings(name: str) -> dict[str, Any]:
    """Return what makes a method small enough for tests."""
    return dict(getattr(_module(name), "SMALL", {}))
