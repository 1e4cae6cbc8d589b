"""What the engine promises beside being equal to the plain program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine import packing
from fedbench.engine import run as engine
from fedbench.engine.optimisers import AdamSettings, RMSpropSettings, StackedAdam, StackedRMSprop
from fedbench.engine.run import run
from fedbench.errors import ConfigurationError, DataError, TrainingError
from fedbench.methods._weighted_average import WeightedSettings
from fedbench.methods.base import Method
from fedbench.methods.exchange import Cell, Exchange, Trained
from fedbench.methods.fedavg import FedAvg
from fedbench.methods.weights import uniform_rows
from fedbench.models.gin import GIN
from fedbench.models.parameters import Parameter
from fedbench.tasks.graph.task import TASK as GRAPHS
from fedbench.tasks.node.block import pack
from fedbench.tasks.task import Place
from tests.reference.match import SMALL as OF_TASK
from tests.reference.match import method_of, run_plain, series, variants
from tests.tasks.toy_graphs import toy_graphs
from tests.toys import toy_problem

SMALL: dict[str, Any] = {"rounds": 5, "model": {"width": 8}}
DOUBLE = Place(torch.float64)


@pytest.mark.parametrize(("name", "variant"), variants())
def test_a_seed_alone_equals_the_seed_in_a_block(name: str, variant: str) -> None:
    problem, method = toy_problem(), method_of(name, variant, SMALL)
    block = run(method, problem, (0, 1, 2, 3, 4), DOUBLE)
    alone = run(method, problem, (3,), DOUBLE)
    for split, metric in (("val", "accuracy"), ("test", "accuracy")):
        together = series(block.history, split, metric).reshape(len(series(alone.history, split, metric)), 5, -1)
        assert np.allclose(together[:, 3], series(alone.history, split, metric))
    if alone.parameters:
        losses = series(block.history, "train", "loss").reshape(method.training.rounds, 5, -1)[:, 3]
        assert np.allclose(losses, series(alone.history, "train", "loss"), atol=1e-9, rtol=0)


@pytest.mark.parametrize(("name", "variant"), variants())
def test_packing_changes_nothing(name: str, variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, method = toy_problem(), method_of(name, variant, SMALL)
    together = run(method, problem, (3,), DOUBLE)
    monkeypatch.setattr(packing, "PACKED_PARAMETERS", 1)
    apart = run(method, problem, (3,), DOUBLE)
    for entry, other in zip(together.history.entries, apart.history.entries, strict=True):
        assert entry[:3] == other[:3]
        assert np.allclose(entry[3], other[3], atol=1e-9, rtol=0)
    assert together.bytes_up == apart.bytes_up


def test_packs_are_runs_of_clients_that_fit() -> None:
    cpu, gpu = torch.device("cpu"), torch.device("cuda")
    budget = packing.PACKED_PARAMETERS
    assert packing.client_packs(5, budget // 2, 1, cpu) == [range(0, 2), range(2, 4), range(4, 5)]
    assert packing.client_packs(3, 10 * budget, 1, cpu) == [range(0, 1), range(1, 2), range(2, 3)]
    assert packing.client_packs(3, 0, 1, cpu) == packing.client_packs(3, budget, 2, cpu) == [range(0, 3)]
    assert packing.client_packs(3, 10 * budget, 1, gpu) == [range(0, 3)]


def test_the_same_run_twice_is_the_same_to_the_last_bit() -> None:
    problem, method = toy_problem(), method_of("fedaux", "paper", SMALL)
    first, second = (run(method, problem, (0,), Place()) for _ in range(2))
    assert np.array_equal(series(first.history, "train", "loss"), series(second.history, "train", "loss"))


class Uneven(Method[Any]):
    """FedAvg in which client k takes k + 1 local epochs."""

    def local_epochs(self, round: int, cell: Cell, memory: Any) -> Tensor:
        return torch.arange(1, cell.clients + 1).expand(len(cell.seeds), -1)


def test_clients_with_fewer_local_epochs_stand_still() -> None:
    problem = toy_problem()
    method = Uneven(WeightedSettings(), TrainingSettings.model_validate(SMALL))
    ours, plain = run(method, problem, (1,), DOUBLE), run_plain(method, "fedavg", problem, 1, DOUBLE)
    assert np.allclose(series(ours.history, "train", "loss"), plain.loss, atol=1e-9, rtol=0)
    assert ours.steps == [[5 * 1, 5 * 2, 5 * 3]]


def test_adam_keeps_inactive_clients_untouched() -> None:
    stack = torch.randn(3, 4, 2, dtype=torch.float64)
    plain = [torch.nn.Parameter(stack[i].clone()) for i in range(3)]
    optimisers = [torch.optim.Adam([p], lr=0.1, weight_decay=0.01) for p in plain]
    ours = StackedAdam({"w": stack}, AdamSettings(0.1, 0.01))
    for step, active in enumerate([(1, 1, 1), (1, 0, 1), (0, 1, 0), (1, 1, 1)]):
        gradients = torch.randn(3, 4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(step))
        ours.step({"w": gradients}, [bool(a) for a in active])
        for i in (i for i in range(3) if active[i]):
            plain[i].grad = gradients[i]
            optimisers[i].step()
    assert all(torch.allclose(stack[i], plain[i], atol=1e-12) for i in range(3))


@pytest.mark.parametrize("decay", [0.0, 0.02])
def test_rmsprop_is_torchs(decay: float) -> None:
    random = np.random.default_rng(4)
    start = torch.from_numpy(random.standard_normal((2, 3, 5)))
    plain = [torch.nn.Parameter(part.clone()) for part in start]
    optimisers = [torch.optim.RMSprop([p], lr=0.01, weight_decay=decay) for p in plain]
    stack = start.clone()
    ours = StackedRMSprop({"w": stack}, RMSpropSettings(0.01, decay))
    for step in range(30):
        active = [True, step % 3 != 1]
        gradient = torch.from_numpy(random.standard_normal((2, 3, 5)))
        ours.step({"w": gradient}, active)
        for i in range(2):
            if active[i]:
                plain[i].grad = gradient[i].clone()
                optimisers[i].step()
    assert torch.allclose(stack, torch.stack([p.detach() for p in plain]), rtol=0, atol=1e-12)
    kept = {name: squares.clone() for name, squares in ours.state().items()}
    ours.reset()
    assert not ours.squares["w"].any()
    ours.restore(kept)
    assert torch.equal(ours.squares["w"], kept["w"])


def test_optimiser_state_can_be_reset_each_round() -> None:
    problem = toy_problem()
    kept, reset = (
        run(method_of("fedavg", "default", SMALL | {"keep_optimiser_state": keep}), problem, (0,), DOUBLE)
        for keep in (True, False)
    )
    losses = [series(outcome.history, "train", "loss") for outcome in (kept, reset)]
    assert np.allclose(losses[0][:2], losses[1][:2])
    assert not np.allclose(losses[0][2], losses[1][2])


def test_traffic_is_counted_by_hand() -> None:
    problem = toy_problem()  # 12 features, 4 classes, 3 clients
    weights = 12 * 8 + 8 + 8 * 8 + 8 + 8 * 4 + 4
    fedavg = run(method_of("fedavg", "default", SMALL), problem, (0,), DOUBLE)
    assert (fedavg.parameters, fedavg.bytes_up, fedavg.bytes_down) == (weights, *(5 * 3 * 4 * weights,) * 2)
    fedper = run(method_of("fedper", "default", SMALL), problem, (0,), DOUBLE)
    assert fedper.bytes_up == 5 * 3 * 4 * (weights - 8 * 4 - 4)
    fedpub = run(method_of("fedpub", "released", SMALL), problem, (0,), DOUBLE)
    assert (fedpub.bytes_up, fedpub.bytes_down) == (5 * 3 * 4 * (weights + 8), 5 * 3 * 4 * weights)
    assert run(method_of("local", "default", SMALL), problem, (0,), DOUBLE).bytes_up == 0


def test_an_empty_mask_gives_no_accuracy_rather_than_a_perfect_one() -> None:
    problem = toy_problem()
    emptied = problem.partition["client"] == 1
    problem.partition["split"][emptied & (problem.partition["split"] == 1)] = 3
    outcome = run(method_of("fedavg", "default", SMALL), problem, (0,), DOUBLE)
    values = series(outcome.history, "val", "accuracy")
    assert np.isnan(values[:, 1]).all()
    assert np.isfinite(values[:, [0, 2]]).all()


def test_a_client_without_training_nodes_stays_finite() -> None:
    problem = toy_problem()
    emptied = problem.partition["client"] == 1
    problem.partition["split"][emptied & (problem.partition["split"] == 0)] = 3
    outcome = run(method_of("fedaux", "paper", SMALL), problem, (0,), DOUBLE)
    assert np.array_equal(series(outcome.history, "train", "loss")[:, 1], np.zeros(5))


def test_a_class_absent_from_a_client_is_no_error() -> None:
    problem = toy_problem()
    problem.data["y"][problem.partition["client"] == 0] = 2
    outcome = run(method_of("majority", "default", SMALL), problem, (0,), DOUBLE)
    assert np.array_equal(series(outcome.history, "test", "accuracy")[:, 0], np.ones(5))


def test_a_shared_parameter_must_start_alike_for_all_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    method = method_of("fedavg", "default", OF_TASK["graph"] | {"rounds": 1})
    declared = GIN.parameters

    def by_width(network: GIN) -> dict[str, Parameter]:
        name = "conv1.first.bias"
        found = dict(declared(network))
        return found | {name: replace(found[name], initial=lambda random, shape: np.full(shape, network.features))}

    run(method, toy_graphs(), (0,), Place())
    monkeypatch.setattr(GIN, "parameters", by_width)
    with pytest.raises(ConfigurationError, match=r"client 1 starts it otherwise"):
        run(method, toy_graphs(), (0,), Place())


def test_seeds_of_clients_of_different_widths_are_not_computed_at_once_unless_padded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(GRAPHS.__dict__, "pads_widths", False)
    with pytest.raises(ConfigurationError, match="different widths"):
        run(method_of("fedavg", "default", OF_TASK["graph"]), toy_graphs(), (0, 1), Place())


def test_a_loss_that_is_not_finite_stops_with_the_place() -> None:
    problem = toy_problem()
    problem.data["x_data"][problem.data["x_indptr"][20]] = np.inf  # node 20 belongs to client 1
    with pytest.raises(TrainingError, match=r"seed 4, client 1"):
        run(method_of("fedavg", "default", SMALL), problem, (4,), DOUBLE)


def test_the_whole_graph_needs_disjoint_clients() -> None:
    problem = toy_problem()
    problem.partition["node"][0] = 1
    with pytest.raises(DataError, match="several clients"):
        run(method_of("centralised", "default", SMALL), problem, (0,), DOUBLE)


def test_clients_are_padded_to_the_largest() -> None:
    problem = toy_problem((5, 40, 6))
    graphs = [problem.client_graph(k) for k in range(3)]
    block = pack([graphs], problem, "gcn", dtype=torch.float64, device=torch.device("cpu"))
    assert (block.slots, block.sizes) == (40, (5, 40, 6))
    assert float(block.present.sum()) == 51


def test_evaluation_can_be_less_frequent_but_never_misses_the_last_round() -> None:
    outcome = run(method_of("fedavg", "default", SMALL | {"evaluate_every": 3}), toy_problem(), (0,), DOUBLE)
    assert sorted({entry[0] for entry in outcome.history.entries}) == [3, 5]


def accuracies(method: Method[Any]) -> np.ndarray:
    return series(run(method, toy_problem(), (0,), DOUBLE).history, "test", "accuracy")


def test_evaluation_after_the_download_uses_what_was_downloaded() -> None:
    model = {"width": 16, "dropout": 0.0}
    training = {"rounds": 3, "local_epochs": 40, "learning_rate": 0.05, "model": model}
    later = training | {"evaluated_after": "download"}
    assert np.array_equal(*(accuracies(method_of("local", "default", t)) for t in (training, later)))
    assert not np.array_equal(*(accuracies(method_of("fedavg", "default", t)) for t in (training, later)))


class Stubborn(Method[Any]):
    """A server step 2/3 received + 1/3 mean of uploaded; clients say how well the received model does."""

    anchored = True
    begins_round = True

    def begin_round(self, trained: Trained) -> dict[str, Tensor]:
        logits = trained.network.forward(trained.packed, trained.block, None)
        return {"met": trained.block.loss(logits).view(len(logits) // len(trained.clients), -1)}

    def mixing(self, uploads: Any, exchange: Exchange) -> Tensor:
        exchange.memory.append(uploads["met"].clone())
        return uniform_rows(exchange.cell) / 3

    def kept(self, uploads: Any, exchange: Exchange) -> Tensor:
        return torch.full((len(exchange.cell.seeds), exchange.cell.clients), 2 / 3, dtype=exchange.cell.dtype)

    def memory(self, cell: Cell, data: Any, shared: Any) -> list[Tensor]:
        return [{name: stack.clone() for name, stack in shared.items()}]  # type: ignore[list-item]


def test_clients_can_keep_some_of_what_they_received_and_measure_it() -> None:
    problem, training = (
        toy_problem(),
        TrainingSettings.model_validate(SMALL | {"rounds": 1, "model": {"width": 8, "dropout": 0.0}}),
    )
    method, plain = Stubborn(WeightedSettings(), training), FedAvg(WeightedSettings(), training)
    found = [_after_one_round(each, problem) for each in (method, plain)]
    start = found[0].memory[0]
    for name, stack in found[0].cohort.uploads().items():
        expected = start[name] * 2 / 3 + found[1].cohort.uploads()[name] / 3
        assert torch.allclose(stack, expected, atol=1e-12), name
    # With one step a round and no dropout, what a client meets is the loss of its step.
    assert np.allclose(found[0].memory[1][0], series(found[0].outcome.history, "train", "loss")[0])


def _after_one_round(method: Method[Any], problem: Any) -> Any:
    running = engine._start(method, problem, (0,), DOUBLE)
    engine._round(running, 1)
    return running
