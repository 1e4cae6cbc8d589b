"""FedSSP: preferences, consensus, sharing and the released code's habits, each by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe, run
from fedbench.errors import ConfigurationError
from fedbench.methods._fedssp_state import FedSSPState
from fedbench.methods.base import Method
from fedbench.methods.exchange import Exchange
from fedbench.methods.fedssp import FedSSP
from fedbench.models.fedssp import PREFERENCE, FedSSPNetwork
from fedbench.models.spectral import encoded
from fedbench.tasks.graph.spectra import SpectralBlock
from tests.methods.steps import DOUBLE, slope, step_of
from tests.reference.match import SMALL, method_of, series
from tests.tasks.toy_graphs import toy_graphs

SHARED = {
    f"encoder.{part}.{kind}"
    for part in ("eigenvalues", "first", "second", "first_norm", "second_norm")
    for kind in ("weight", "bias")
}


def method(variant: str = "paper", rounds: int = 3, **settings: Any) -> Method[Any]:
    return method_of("fedssp", variant, SMALL["graph"] | {"rounds": rounds}, settings)


def figures(variant: str, name: str, split: str = "none", **settings: Any) -> np.ndarray:
    return series(run(method(variant, **settings), toy_graphs(), (1,), DOUBLE).history, split, name)


def test_preferences_are_trained_from_round_2_on() -> None:
    found = figures("paper", "preference_norm")
    assert not found[0].any() and (found[1:] > 0).all()
    assert not figures("released", "preference_norm").any()


def test_a_preference_steps_along_its_gradient_or_along_all_of_them() -> None:
    """0.5 of (1, 3), then of (1, 0): 1 stays where it is not active."""
    for gathering, expected in ((False, [-1.0, -1.5]), (True, [-1.5, -3.0])):
        state = FedSSPState((0,), *(torch.zeros(1, 2, 2, dtype=torch.float64) for _ in range(3)))
        for gradient in ((1.0, 3.0), (1.0, 0.0)):
            both = torch.tensor(gradient, dtype=torch.float64).expand(1, 2, 2)
            state.step(both, torch.tensor([[True, False]]), range(2), 0.5, gathering=gathering)
        assert state.preference[0].tolist() == [expected, [0, 0]]


@pytest.mark.parametrize(("variant", "acts"), [("paper", True), ("released", False), ("no-pgpa", False)])
def test_evaluation_uses_the_preference_or_not(variant: str, acts: bool) -> None:
    step = step_of(method(variant), toy_graphs())
    before = step.network.forward(step.parameters, step.block, None)
    with torch.no_grad():
        step.parameters[PREFERENCE].fill_(3.0)
    assert torch.equal(before, step.network.forward(step.parameters, step.block, None)) != acts


def test_running_means_by_hand() -> None:
    """m = 0.25 * 4 = 1, then 0.75 * 1 + 0.25 * 8 = 2.75; anew it is 2 again."""
    state = FedSSPState((0,), *(torch.zeros(1, 1, 1, dtype=torch.float64) for _ in range(3)))
    for batch, anew, expected in ((4.0, True, 1.0), (8.0, False, 2.75), (8.0, True, 2.0)):
        batch_mean = torch.full((1, 1), batch, dtype=torch.float64)
        state.moved_mean(batch_mean, torch.tensor([[True]]), range(1), 0.25, anew=anew)
        assert state.mean.item() == pytest.approx(expected)
    state.moved_mean(batch_mean, torch.tensor([[False]]), range(1), 0.25, anew=False)
    assert state.mean.item() == pytest.approx(2.0)


def test_the_penalty_is_tau_half_mean_square_and_has_a_gradient() -> None:
    losses, slopes = [], []
    for tau in (0.0, 100.0):
        chosen = method(tau=tau, mean_over="round")  # from 0 each time the loss is taken
        step = step_of(chosen, toy_graphs())
        step.memory.consensus = torch.full((1, 1, 8), 0.3, dtype=torch.float64)
        losses.append(chosen.objective(step).sum().item())
        by_autograd, by_differences = slope(chosen, step, "conv1.message.weight")
        assert by_autograd == pytest.approx(by_differences, rel=1e-5)
        slopes.append(by_autograd)
    mean = step.memory.mean[0, 0]
    assert losses[1] - losses[0] == pytest.approx(50 * float((mean - 0.3).square().mean()))
    assert abs(slopes[1] - slopes[0]) > 1e-3


def test_m_is_half_of_the_last_batch_in_the_released_code() -> None:
    chosen = method("released")
    step = step_of(chosen, toy_graphs(), number=3)
    step.memory.mean.fill_(99.0)
    chosen.objective(step)
    assert isinstance(step.network, FedSSPNetwork)
    pooled, _ = step.network.pooled(step.parameters, step.block, step.dropout)
    assert torch.allclose(step.memory.mean[0, 0], pooled[0].mean(0) / 2)


def test_only_encoders_leave_a_client_and_statistics_stay() -> None:
    chosen, problem = method(), toy_graphs()
    cell = describe(problem, chosen, (0,), DOUBLE)
    cohort = start_cohort(cell, chosen, problem, chosen.prepare(problem, cell).data)
    assert set(cohort.shared) == SHARED
    alone = start_cohort(cell, method("no-sharing"), problem, [problem.client_data])
    assert alone.shared == ()


def test_averages_begin_in_round_2_and_means_in_round_1() -> None:
    chosen, problem = method(), toy_graphs()
    cell = describe(problem, chosen, (0,), DOUBLE)
    memory = chosen.memory(cell, [], {})
    uploads = {"feature_mean": torch.tensor([[[1.0], [2.0], [6.0]]], dtype=torch.float64)}
    for round, expected in ((1, torch.eye(3)), (2, torch.full((3, 3), 1 / 3))):
        weights = chosen.mixing(uploads, Exchange(cell, round, memory, {}))
        assert torch.allclose(weights[0], expected.double())
    assert memory.consensus.flatten().tolist() == [3.0]
    without = method("no-gsks").mixing(uploads, Exchange(cell, 2, memory, {}))
    assert torch.equal(without[0], torch.eye(3, dtype=torch.float64))


def test_bytes_of_rounds() -> None:
    numbers = (9 * 8 + 8) + (3 * 8 + 8) + (8 * 8 + 8) + 4 * 8  # encodings, two linear maps, two batch norms
    outcome = run(method(), toy_graphs(), (0,), DOUBLE)
    assert outcome.bytes_up == outcome.bytes_down == 4 * 3 * (3 * 8 + 2 * numbers)
    assert run(method("no-sharing"), toy_graphs(), (0,), DOUBLE).bytes_up == 0


def test_a_new_adamw_in_every_batch_is_its_first_step() -> None:
    chosen = method("released", adamw_epsilon=1e-8)
    start = torch.tensor([[0.5, -2.0, 3.0]], dtype=torch.float64)
    gradient = torch.tensor([[1e-3, -7.0, 0.0]], dtype=torch.float64)
    plain = torch.nn.Parameter(start.clone())
    plain.grad = gradient.clone()
    torch.optim.AdamW([plain], lr=0.01, weight_decay=0.1).step()
    along = chosen.corrected({"w": gradient.unsqueeze(0)}, torch.tensor([[True]]), range(1), None)["w"][0]
    assert torch.allclose(start - 0.01 * (along + 0.1 * start), plain.detach())
    with pytest.raises(ConfigurationError, match="sgd"):
        method_of("fedssp", "paper", SMALL["graph"], {"adamw": "first_step"})


@pytest.mark.parametrize(("start", "alike"), [("common", True), ("own", False)])
def test_where_clients_start(start: str, alike: bool) -> None:
    """After a round without steps of any size, parameters are where they started."""
    chosen = method_of("fedssp", "no-gsks", SMALL["graph"] | {"rounds": 1, "learning_rate": 1e-12}, {"start": start})
    weights: list[torch.Tensor] = []
    mixing = chosen.mixing
    chosen.mixing = lambda u, e: weights.append(u["encoder.second.weight"].clone()) or mixing(u, e)  # type: ignore
    run(chosen, toy_graphs(), (0,), DOUBLE)
    assert torch.allclose(weights[0][0, 0], weights[0][0, 1], atol=1e-9) == alike


def test_edgeless_graphs_are_kept_or_dropped() -> None:
    problem = toy_graphs()
    cell = describe(problem, method(), (0,), DOUBLE)
    kept, dropped = (
        sum(len(c.labels) for c in method(v).prepare(problem, cell).data[0]) for v in ("paper", "released")
    )
    assert kept == 45 and dropped < 45


def test_the_identity_basis_has_no_effect() -> None:
    chosen = method()
    step = step_of(chosen, toy_graphs())
    loss = chosen.objective(step).sum()
    gradient = torch.autograd.grad(loss, step.parameters["encoder.first.weight"])[0]
    assert not gradient[0, 0].any() and gradient[0, 1:].any()


def test_a_graph_is_the_same_alone_and_among_others() -> None:
    """At evaluation: attention, softmax and pooling stay inside a graph."""
    problem, chosen = toy_graphs(), method(layers=2)
    step = step_of(chosen, problem)
    block = SpectralBlock(problem.client_data[:1], DOUBLE, partial(encoded, width=8))
    together = step.network.forward(step.parameters, block.batch([np.arange(15)]), None)  # type: ignore[arg-type]
    for graph in range(15):
        alone = step.network.forward(step.parameters, block.batch([np.array([graph])]), None)  # type: ignore[arg-type]
        assert torch.allclose(alone[0, 0], together[0, graph])


def test_running_statistics_follow_batches() -> None:
    chosen = method()
    step = step_of(chosen, toy_graphs())
    chosen.objective(step)
    network = step.network
    assert isinstance(network, FedSSPNetwork)
    name = "conv1.first_norm.running_mean"
    first = step.parameters[name].detach().clone()
    assert first.any()
    _, found = network.pooled(step.parameters, step.block, step.dropout)
    batch = (found[name] - 0.9 * first) / 0.1
    assert torch.allclose(first, 0.1 * batch)  # from 0: a tenth of the batch's


def test_clients_of_one_width_are_computed_alone_or_together_alike() -> None:
    chosen, problem = method(), toy_graphs((4, 4), (2, 2))
    apart, together = run(chosen, problem, (2,), DOUBLE), run(chosen, problem, (2, 5), DOUBLE)
    for split, metric in (("train", "loss"), ("test", "accuracy")):
        both = series(together.history, split, metric).reshape(3, 2, -1)[:, 0]
        assert np.allclose(both, series(apart.history, split, metric), atol=1e-9, rtol=0)


def test_width_must_be_cut_into_heads() -> None:
    with pytest.raises(ConfigurationError, match="multiple of heads"):
        method(width=10, heads=4)
    assert FedSSP.begins_round and replace(step_of(method(), toy_graphs())).block.edges is not None
