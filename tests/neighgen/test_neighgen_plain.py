"""Both phases and the mending equal a plain program that follows the equations with loops over nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from fedbench.configuration.method import load_method_file
from fedbench.neighgen import NeighGenSettings, mend
from fedbench.neighgen.client import _draws, _network, _problem
from fedbench.neighgen.federation import federation
from fedbench.neighgen.scale import largest_one
from fedbench.neighgen.training import train_federated, train_locally
from tests.neighgen.plain import CPU, DOUBLE, PlainClient
from tests.reference.match import CONFIGS
from tests.toys import toy_problem

SMALL: dict[str, Any] = {
    "predicted_neighbours": 3, "encoder_width": 8, "latent": 6, "generator_widths": (5, 7),
    "learning_rate": 0.05, "weight_decay": 0.01, "generator_epochs": 6, "federated_epochs": 3, "hidden_portion": 0.4,
}  # fmt: skip
RELEASED = load_method_file("fedsage_plus", CONFIGS).variants["released"].method["neighgen"]
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {"dropout": 0.3},
    "released": RELEASED | {"counts": "round", "hidden_portion": 0.9, "generator_epochs": 12},
    "truncated": {"counts": "truncate", "generator_epochs": 14},
    "locsage_plus": {"federated": False, "feature_distance": "mean"},
    "every_node": {"mended_nodes": "all", "row_scale": "as_given", "cross_client_weight": 0.5, "feature_weight": 2.0},
    "fixed_convolutions": {
        "train_convolutions": False,
        "generator_epochs": 12,
        "count_weight": 3.0,
        "class_weight": 0.7,
    },
}


@pytest.mark.parametrize("name", VARIANTS)
def test_equals_the_plain_program(name: str) -> None:
    problem = toy_problem((25, 30, 19))
    graphs = [problem.client_graph(client) for client in range(3)]
    settings = NeighGenSettings(**SMALL | VARIANTS[name])
    mended = mend(graphs, problem.width, problem.classes, settings, 1, DOUBLE, CPU, chunk=4)
    generated = 0
    for client, graph in enumerate(graphs):
        plain = PlainClient(graphs, client, problem.width, problem.classes, settings, 1)
        plain.train_locally()
        if settings.federated:
            plain.train_federated()
        owners, features = plain.generated()
        generated += len(owners)
        _same_losses(plain, mended.diagnostics, client)
        new = mended.graphs[client]
        assert new.edges[0, graph.edges.shape[1] :][: len(owners)].tolist() == owners
        found = np.zeros((new.size, problem.width))
        found[new.feature_rows, new.feature_columns] = new.feature_values
        expected = np.array(features).reshape(-1, problem.width)
        np.testing.assert_allclose(found[graph.size :], expected, rtol=1e-6, atol=1e-7)  # stored as float32
    assert generated > 10
    for phase, term in (("local", "feature"), ("federated", "cross_client"))[: 1 + settings.federated]:
        assert sum(losses[term] for client in mended.diagnostics[phase] for losses in client) > 0


def _same_losses(plain: PlainClient, found: dict[str, Any], client: int) -> None:
    for phase, expected in plain.losses.items():
        for one, other in zip(expected, found[phase][client], strict=True):
            assert one == pytest.approx(other, rel=1e-9, abs=1e-12)


def test_parameters_after_one_step_of_each_phase() -> None:
    """Not only losses: every parameter itself, to 1e-9, fGen's last layer put together from its blocks."""
    problem = toy_problem((25, 30, 19))
    graphs = [problem.client_graph(client) for client in range(3)]
    settings = NeighGenSettings(**SMALL | {"generator_epochs": 1, "federated_epochs": 1})
    plain = PlainClient(graphs, 1, problem.width, problem.classes, settings, 4)
    seen = [largest_one(graph)[0] for graph in graphs]
    ours = federation(seen, problem.width, problem.classes, settings, 4, DOUBLE, CPU, 5)
    net, task = _network(ours, 1), _problem(ours, 1)
    with torch.no_grad():  # so that some counts are above 0 from the start
        plain.w["count.bias"].fill_(1.4)
        net.parameters["count.bias"].fill_(1.4)
    draw = lambda phase, epoch: _draws(ours, 1, phase, epoch)  # noqa: E731
    plain.train_locally()
    train_locally(net, task, draw)
    _same_parameters(plain, net.parameters)
    plain.train_federated()
    train_federated(net, task, ours.others(1, task.impaired.size), 3, draw)
    _same_parameters(plain, net.parameters)
    assert plain.losses["federated"][0]["cross_client"] > 0


def _same_parameters(plain: PlainClient, found: Any) -> None:
    for name, expected in plain.w.items():
        if name.startswith("generator.out."):
            what = name.rpartition(".")[2]
            block = torch.cat([found[f"generator.out.{p}.{what}"] for p in range(3)], -1)
        else:
            block = found[name]
        torch.testing.assert_close(block.detach(), expected.detach(), rtol=1e-9, atol=1e-9)
