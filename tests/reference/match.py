"""Runs a method in the suite's engine and in the plain program from the same start, and hands back both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from fedbench.configuration.merge import merged
from fedbench.configuration.method import Variant, load_method_file
from fedbench.configuration.protocol import TASK_BACKBONES, TrainingSettings
from fedbench.engine.cohort import initial_parameters
from fedbench.engine.history import History
from fedbench.engine.run import Outcome, describe, run
from fedbench.kernels.dropout import client_keys, draw_keep
from fedbench.methods.base import Method
from fedbench.methods.fedpub import FedPUB
from fedbench.methods.registry import build, method_names
from fedbench.tasks.graph.arrays import ClientGraphs
from fedbench.tasks.node.arrays import ClientGraph
from fedbench.tasks.task import Place, Problem
from tests.reference.clients import Batch, Client, Graph, GraphSet
from tests.reference.federation import Trace, federate
from tests.reference.names import start_from
from tests.reference.plans import (
    Shape,
    cases_of,
    is_swept,
    plan_names,
    plan_of,
    small_settings,
    tasks_of,
    training_of,
)

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
SMALL: dict[str, dict[str, Any]] = {
    "node": {"rounds": 10, "learning_rate": 0.01, "model": {"layers": 2, "width": 8, "dropout": 0.5}},
    "graph": {"task": "graph", "rounds": 10, "batch_size": 4, "learning_rate": 0.01, "evaluated_after": "download",
              "model": {"backbone": "gin", "layers": 2, "width": 8, "dropout": 0.5}},
    "rec": {"task": "rec", "rounds": 3, "local_epochs": 2, "batch_size": 15, "evaluate_every": 1,
            "ranking": {"l2": 0.05},
            "model": {"layers": 2, "width": 12, "dropout": 0.0, "embedding": {"deviation": 0.3}}},
}  # fmt: skip
"""Of recommendation so wide that no vector behind a ReLU is zero, for figures of equal scores depend on their order."""
OF_REC: dict[str, Any] = {
    "weight_decay": 0.0, "ranking": {"negatives": 2},
    "model": {"backbone": "lightgcn", "embedding": {
        "frequencies": 5, "pinsage": {"neighbours": 3, "walks": 20, "hidden": 2}, "lcfn": {"users": 4, "items": 3}}},
}  # fmt: skip
"""What a protocol of recommendation says, under the variants: they choose backbones, negatives and frequencies."""
Case = tuple[str, str, dict[str, Any]]
"""Method, variant, and settings on top of the variant's."""


def cases(task: str) -> list[Case]:
    """Return every method and variant that is for a task and still another one on a small network and schedule."""
    found: dict[str, Case] = {}
    for name in (name for name in sorted(plan_names() & set(method_names())) if task in tasks_of(name)):
        file = load_method_file(name, CONFIGS)
        fitting = [variant for variant, how in file.variants.items() if _fits(how, task)]
        chosen = [(variant, {}) for variant in fitting if not is_swept(name, variant)]
        first = next(iter(file.variants))
        for variant, settings in chosen + [(first, settings) for settings in cases_of(name)]:
            method = method_of(name, variant, SMALL[task], settings)
            key = f"{name} {method.settings!r} {method.training!r}"
            found.setdefault(key, (name, variant, settings))
    return list(found.values())


def _fits(variant: Variant, task: str) -> bool:
    """Tell whether a variant is one of the task: networks are chosen for nodes, but recommendation's backbones."""
    chosen = variant.training.get("model", {})
    if task == "rec":
        return chosen.get("backbone", "lightgcn") in TASK_BACKBONES[task] and not chosen.get("masks")
    return (task == "node" and chosen.get("backbone", "gcn") in TASK_BACKBONES[task]) or not chosen


def variants() -> list[tuple[str, str]]:
    """Return every (method, variant) of the node task."""
    return list(dict.fromkeys((name, variant) for name, variant, settings in cases("node") if not settings))


def method_of(name: str, variant: str, training: dict[str, Any], settings: dict[str, Any] | None = None) -> Method[Any]:
    """Return a method as its variant says, on a small schedule."""
    chosen = load_method_file(name, CONFIGS).variants[variant]
    base = merged(OF_REC, training_of(name)) if training.get("task") == "rec" else {}
    values = merged(merged(base, chosen.training), training)
    own = merged(merged(chosen.method, small_settings(name)), settings or {})
    return build(name, own, TrainingSettings.model_validate(values))


def plain_graph(graph: ClientGraph, width: int, dtype: torch.dtype) -> Graph:
    x = torch.zeros(graph.size, width, dtype=dtype)
    x[graph.feature_rows, graph.feature_columns] = torch.from_numpy(graph.feature_values).to(dtype)
    tensors = (torch.from_numpy(np.asarray(a)).long() for a in (graph.edges, graph.labels, graph.split, graph.owner))
    return Graph(x, *tensors)


def plain_graph_set(
    client: ClientGraphs, about: tuple[int, int], batch_size: int | None, dtype: torch.dtype
) -> GraphSet:
    """Cut a client's arrays into graphs, row by row; the arrays list every node among its own neighbours."""
    xs, edges = [], []
    for first, stop in zip(client.nodes[:-1].tolist(), client.nodes[1:].tolist(), strict=True):
        x, pairs = torch.zeros(stop - first, client.features.width, dtype=dtype), []
        for node in range(first, stop):
            own = slice(client.features.start[node], client.features.start[node + 1])
            x[node - first, client.features.columns[own]] = torch.from_numpy(client.features.values[own]).to(dtype)
            near = client.neighbours[client.start[node] : client.start[node + 1]].tolist()
            pairs += [(node - first, other - first) for other in near if other != node]
        xs.append(x)
        edges.append(torch.tensor(pairs).T if pairs else torch.zeros(2, 0, dtype=torch.long))
    labels, split = (torch.from_numpy(np.asarray(a)).long() for a in (client.labels, client.split))
    return GraphSet(xs, edges, labels, split, about, batch_size)


def plain_client(data: Any, k: int, method: Method[Any], shape: Shape) -> Client:
    if shape["task"] == "graph":
        return plain_graph_set(data, (shape["seed"], k), method.training.batch_size, shape["dtype"])
    return plain_graph(data, shape["features"], shape["dtype"])


def run_plain(method: Method[Any], name: str, problem: Any, seed: int, place: Place) -> Trace:
    """Run the plain program of a method."""
    training, model = method.training, method.training.model
    cell = describe(problem, method, (seed,), place)
    shapes = [client_shape(method, problem, cell, k, seed) for k in range(cell.clients)]
    data = method.prepare(problem, cell).data[0]
    graphs = [plain_client(d, k, method, s) for k, (d, s) in enumerate(zip(data, shapes, strict=True))]
    keys = client_keys(seed, range(len(graphs)))

    def start(module: torch.nn.Module, client: int) -> None:
        declared = method.network(cell, client).parameters()
        start_from(module, {n: v[0] for n, v in initial_parameters(cell, declared).items()})

    def keep(client: int, round: int, number: int, batch: Batch) -> list[torch.Tensor] | None:
        if not model.dropout:
            return None
        rows = enumerate(batch.rows(len(model.hidden_widths)), 1)
        return [dropout_mask(keys[client], (round, number, layer), n, method, place.dtype) for layer, n in rows]

    plan = plan_of(name)(method.settings, shapes[0])
    if plan.epochs is None:
        plan.epochs = lambda client, round: int(method.local_epochs(round, cell, None)[0, client])
    return federate(
        plan, graphs, start, keep, shapes=shapes,
        clients=problem.clients, rounds=training.rounds, lr=training.learning_rate,
        weight_decay=training.weight_decay, scale=1 / (1 - model.dropout), optimiser=training.optimiser,
        evaluated_after=training.evaluated_after,
    )  # fmt: skip


def client_shape(method: Method[Any], problem: Problem, cell: Any, client: int, seed: int) -> Shape:
    """Return what a client's module is made from (`tests.reference.plans.Shape`)."""
    training, model, own = method.training, method.training.model, cell.shapes[client]
    return {"task": training.task, "features": own.features, "classes": own.classes, "layers": model.layers,
            "width": model.width, "readout": model.readout, "backbone": model.backbone, "apv": model.apv,
            "masks": model.masks, "dtype": cell.dtype, "client": client, "proxy": _proxy(method, cell),
            "problem": problem, "seed": seed, "rounds": training.rounds, "training": training}  # fmt: skip


def dropout_mask(
    key: tuple[int, int], counter: tuple[int, int, int], rows: int, method: Method[Any], dtype: torch.dtype
) -> torch.Tensor:
    model = method.training.model
    out = np.zeros(rows * model.width, dtype=np.uint8)
    draw_keep(out, key, counter, model.dropout)
    return torch.from_numpy(out).view(rows, model.width).to(dtype)


def _proxy(method: Method[Any], cell: Any) -> Any:
    """Return FED-PUB's random graph as features and edges, recovered from what the server publishes."""
    published = method.memory(cell, [], {}) if isinstance(method, FedPUB) else None
    if published is None:
        return None
    adjacency, propagated = published.adjacency[0], published.features[0]
    features = torch.linalg.solve(adjacency, propagated)
    edges = (adjacency * (1 - torch.eye(len(adjacency), dtype=adjacency.dtype))).nonzero().T
    return features, edges


def run_suite(method: Method[Any], problem: Any, seeds: tuple[int, ...], place: Place) -> Outcome:
    """Run a method in the engine."""
    return run(method, problem, seeds, place)


def series(history: History, split: str, metric: str) -> np.ndarray:
    """Return one figure by round, [rounds, seeds * clients]."""
    return np.stack([values for _, s, m, values in history.entries if (s, m) == (split, metric)])
