"""Runs a method in the suite's engine and in the plain program from the same start, and hands back both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from fedbench.configuration.merge import merged
from fedbench.configuration.method import load_method_file
from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.cohort import initial_parameters
from fedbench.engine.history import History
from fedbench.engine.run import Outcome, describe, run
from fedbench.kernels.dropout import client_keys, draw_keep
from fedbench.methods.base import Method
from fedbench.methods.fedpub import FedPub
from fedbench.methods.registry import build, method_names
from fedbench.tasks.node.arrays import ClientGraph, NodeProblem
from fedbench.tasks.task import Place
from tests.reference.federation import Graph, Trace, federate
from tests.reference.names import start_from
from tests.reference.plans import plan_of, small_settings

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


def variants() -> list[tuple[str, str]]:
    """Return every (method, variant) of the suite that is still another one on a small network and schedule."""
    small = {"rounds": 10, "model": {"layers": 2, "width": 8}}
    found: dict[str, tuple[str, str]] = {}
    for name in method_names():
        for variant in load_method_file(name, CONFIGS).variants:
            method = method_of(name, variant, small)
            found.setdefault(f"{name} {method.settings!r} {method.training!r}", (name, variant))
    return list(found.values())


def method_of(name: str, variant: str, training: dict[str, Any]) -> Method[Any]:
    """Return a method as its variant says, on a small schedule."""
    chosen = load_method_file(name, CONFIGS).variants[variant]
    values = merged(chosen.training, training)
    return build(name, merged(chosen.method, small_settings(name)), TrainingSettings.model_validate(values))


def plain_graph(graph: ClientGraph, width: int, dtype: torch.dtype) -> Graph:
    x = torch.zeros(graph.size, width, dtype=dtype)
    x[graph.feature_rows, graph.feature_columns] = torch.from_numpy(graph.feature_values).to(dtype)
    tensors = (torch.from_numpy(np.asarray(a)).long() for a in (graph.edges, graph.labels, graph.split, graph.owner))
    return Graph(x, *tensors)


def run_plain(method: Method[Any], name: str, problem: NodeProblem, seed: int, place: Place) -> Trace:
    """Run the plain program of a method."""
    training, model = method.training, method.training.model
    cell = describe(problem, method, (seed,), place)
    graphs = [plain_graph(graph, problem.width, place.dtype) for graph in method.prepare(problem, cell).data[0]]
    initial = {n: v[0] for n, v in initial_parameters(cell, method.network(cell).parameters()).items()}
    keys = client_keys(seed, range(len(graphs)))

    def keep(client: int, round: int, epoch: int) -> list[torch.Tensor] | None:
        return [
            _mask(keys[client], (round, epoch, layer), graphs[client], model) for layer in range(1, model.layers + 1)
        ]

    shape = {"features": problem.width, "classes": problem.classes, "layers": model.layers, "width": model.width,
             "readout": model.readout, "backbone": model.backbone, "apv": model.apv, "masks": model.masks,
             "proxy": _proxy(method, cell), "problem": problem, "seed": seed}  # fmt: skip
    plan = plan_of(name)(method.settings, shape)
    plan.epochs = lambda client, round: int(method.local_epochs(round, cell, None)[0, client])
    return federate(
        plan, graphs, lambda module: start_from(module, initial), keep if model.dropout else lambda *_: None,
        clients=problem.clients, rounds=training.rounds, lr=training.learning_rate,
        weight_decay=training.weight_decay, scale=1 / (1 - model.dropout), optimiser=training.optimiser,
    )  # fmt: skip


def _mask(key: tuple[int, int], counter: tuple[int, int, int], graph: Graph, model: Any) -> torch.Tensor:
    out = np.zeros(len(graph.x) * model.width, dtype=np.uint8)
    draw_keep(out, key, counter, model.dropout)
    return torch.from_numpy(out).view(len(graph.x), model.width).to(graph.x.dtype)


def _proxy(method: Method[Any], cell: Any) -> Any:
    """Return FED-PUB's random graph as features and edges, recovered from what the server publishes."""
    published = method.memory(cell, [], {}) if isinstance(method, FedPub) else None
    if published is None:
        return None
    adjacency, propagated = published.adjacency[0], published.features[0]
    features = torch.linalg.solve(adjacency, propagated)
    edges = (adjacency * (1 - torch.eye(len(adjacency), dtype=adjacency.dtype))).nonzero().T
    return features, edges


def run_suite(method: Method[Any], problem: NodeProblem, seeds: tuple[int, ...], place: Place) -> Outcome:
    """Run a method in the engine."""
    return run(method, problem, seeds, place)


def series(history: History, split: str, metric: str) -> np.ndarray:
    """Return one figure by round, [rounds, seeds * clients]."""
    return np.stack([values for _, s, m, values in history.entries if (s, m) == (split, metric)])
