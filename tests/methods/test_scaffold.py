"""SCAFFOLD against the paper's own formulas, and what a single local step makes of it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.cohort import initial_parameters
from fedbench.engine.run import describe, run
from fedbench.methods.exchange import Cell, Exchange
from fedbench.methods.registry import build
from fedbench.methods.scaffold import SCAFFOLD, SCAFFOLDSettings
from fedbench.tasks.task import Place
from tests.reference.federation import Graph
from tests.reference.match import method_of, plain_graph, run_plain, series
from tests.reference.names import start_from
from tests.reference.networks import PlainGCN
from tests.toys import toy_problem

DOUBLE = Place(torch.float64)
STEP = 0.3
DESCENT: dict[str, Any] = {
    "rounds": 4, "local_epochs": 3, "optimiser": "sgd", "learning_rate": STEP, "weight_decay": 0.0,
    "model": {"width": 8, "dropout": 0.0},
}  # fmt: skip


def loss_of(module: torch.nn.Module, graph: Graph) -> Tensor:
    train = graph.split == 0
    return torch.nn.functional.cross_entropy(module(graph.x, graph.edges)[train], graph.y[train])


def gradients(module: torch.nn.Module, graph: Graph) -> list[Tensor]:
    return list(torch.autograd.grad(loss_of(module, graph), list(module.parameters())))


def algorithm_1(graphs: list[Graph], start: PlainGCN, option: str, rounds: int, steps: int) -> PlainGCN:
    """The paper's algorithm 1, line by line, with all clients and global step size 1; returns the server's model."""
    x = start
    c = [torch.zeros_like(p) for p in x.parameters()]
    own = [[torch.zeros_like(p) for p in x.parameters()] for _ in graphs]
    for _ in range(rounds):
        moves, changes = [], []
        for i, graph in enumerate(graphs):
            y, at_x = copy.deepcopy(x), gradients(x, graph)
            for _ in range(steps):
                corrected = [g - a + b for g, a, b in zip(gradients(y, graph), own[i], c, strict=True)]
                with torch.no_grad():
                    for p, direction in zip(y.parameters(), corrected, strict=True):
                        p -= STEP * direction
            pairs = list(zip(x.parameters(), y.parameters(), strict=True))
            two = [a - b + (p - q).detach() / (steps * STEP) for a, b, (p, q) in zip(own[i], c, pairs, strict=True)]
            new = at_x if option == "I" else two
            moves.append([(q - p).detach() for p, q in pairs])
            changes.append([n - a for n, a in zip(new, own[i], strict=True)])
            own[i] = new
        with torch.no_grad():
            for j, p in enumerate(x.parameters()):
                p += sum(move[j] for move in moves) / len(graphs)
                c[j] = c[j] + sum(change[j] for change in changes) / len(graphs)
    return x


@pytest.mark.parametrize("option", ["I", "II"])
def test_plain_descent_is_algorithm_1_of_the_paper(option: str) -> None:
    problem = toy_problem()
    method = build("scaffold", {"option": option}, TrainingSettings.model_validate(DESCENT))
    cell = describe(problem, method, (3,), DOUBLE)
    start = PlainGCN(problem.width, problem.classes, 2, 8).double()
    start_from(start, {n: v[0] for n, v in initial_parameters(cell, method.network(cell).parameters()).items()})
    graphs = [plain_graph(graph, problem.width, torch.float64) for graph in problem.client_data]
    server = algorithm_1(graphs, start, option, 3, 3)
    expected = [loss_of(server, graph).item() for graph in graphs]
    outcome = run(ThreeThenOne(method.settings, method.training), problem, (3,), DOUBLE)
    assert np.allclose(expected, series(outcome.history, "train", "loss")[3], atol=1e-9, rtol=0)
    ours, plain = run(method, problem, (3,), DOUBLE), run_plain(method, "scaffold", problem, 3, DOUBLE)
    assert np.allclose(series(ours.history, "train", "loss"), plain.loss, atol=1e-9, rtol=0)


class ThreeThenOne(SCAFFOLD):
    """Three local steps a round, and one in round 4, whose loss is that of the model received after round 3."""

    def local_epochs(self, round: int, cell: Cell, memory: Any) -> Tensor:
        return torch.full((len(cell.seeds), cell.clients), 1 if round == 4 else 3)


def received_accuracies(name: str, training: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    values = training | {"evaluated_after": "download", "rounds": 6}
    outcome = run(build(name, {}, TrainingSettings.model_validate(values)), toy_problem(), (1,), DOUBLE)
    return series(outcome.history, "train", "loss"), series(outcome.history, "test", "accuracy")


def test_with_one_plain_step_a_round_the_server_model_is_fedavgs() -> None:
    """The corrections c - c_i average to zero, so one step a round moves the average as FedAvg does."""
    once = DESCENT | {"local_epochs": 1, "weight_decay": 1e-3, "model": {"width": 8, "dropout": 0.5}}
    for ours, theirs in zip(received_accuracies("scaffold", once), received_accuracies("fedavg", once), strict=True):
        assert np.allclose(ours, theirs, atol=1e-9)
    several = received_accuracies("scaffold", DESCENT)[0], received_accuracies("fedavg", DESCENT)[0]
    assert not np.allclose(*several, atol=1e-6)


def exchange(method: SCAFFOLD, memory: Any) -> Exchange:
    cell = describe(toy_problem(), method, (0,), DOUBLE)
    return Exchange(cell, 1, memory, {})


def test_variates_by_hand_and_clients_that_take_no_step() -> None:
    """Three clients, one number each: raw gradients 1 and 3; 5; none. Then c_i = 2, 5, 0 and c = 7/3."""
    method = SCAFFOLD(SCAFFOLDSettings(option="II"), TrainingSettings())
    cell = describe(toy_problem(), method, (0,), DOUBLE)
    memory = method.memory(cell, [], {"w": torch.zeros(1, 3, 1, dtype=torch.float64)})
    for raw, active in (((1.0, 5.0, 9.0), (1, 1, 0)), ((3.0, 7.0, 9.0), (1, 0, 0))):
        stack = {"w": torch.tensor(raw, dtype=torch.float64).view(1, 3, 1)}
        method.corrected(stack, torch.tensor([active]).bool(), range(3), memory)
    method.mixing({}, exchange(method, memory))
    assert memory.own["w"].flatten().tolist() == [2, 5, 0]
    assert memory.correction["w"].flatten().tolist() == pytest.approx([7 / 3 - 2, 7 / 3 - 5, 7 / 3])
    next_step = {"w": torch.ones(1, 1, 1, dtype=torch.float64), "private": torch.ones(1, 1, 2, dtype=torch.float64)}
    found = method.corrected(next_step, torch.tensor([[True]]), range(1, 2), memory)
    assert found["w"].item() == pytest.approx(1 + 7 / 3 - 5)
    assert found["private"].tolist() == [[[1, 1]]]
    method.mixing({}, exchange(method, memory))  # only client 1 took a step: the others keep theirs
    assert memory.own["w"].flatten().tolist() == [2, 1, 0]
    assert memory.correction["w"].flatten().tolist() == pytest.approx([1 - 2, 1 - 1, 1])


def test_traffic_is_twice_fedavgs() -> None:
    small = {"rounds": 2, "model": {"width": 8}}
    ours, plain = (run(method_of(m, "default", small), toy_problem(), (0,), DOUBLE) for m in ("scaffold", "fedavg"))
    assert (ours.bytes_up, ours.bytes_down) == (2 * plain.bytes_up, 2 * plain.bytes_down)
