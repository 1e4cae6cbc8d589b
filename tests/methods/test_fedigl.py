"""FedIGL: the cut, the terms on gradients and the two stages, by hand and by finite differences."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe, run
from fedbench.methods._fedigl_gradients import GradientState, hinge, squared_apart
from fedbench.methods.base import Method
from fedbench.methods.exchange import Exchange, LocalStep
from fedbench.models.fedigl import SHARED
from fedbench.models.subgraphs import cut, highest
from fedbench.tasks.graph.coloured_edges import ColouredEdgeBlock
from tests.methods.steps import DOUBLE, slope, step_of
from tests.reference.match import SMALL, method_of, series
from tests.tasks.toy_graphs import toy_graphs

GLOBAL = ("generator.", "invariant.", "variant.", "input.", "post.", "readout.")


def method(rounds: int = 2, **settings: Any) -> Method[Any]:
    return method_of("fedigl", "default", SMALL["graph"] | {"rounds": rounds}, settings)


def doubles(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def two_graphs() -> Any:
    """A triangle 0-1-2 with a tail 2-3, and a pair 4-5: edges 01, 02, 12, 23 and 45; both directions of each."""
    pairs = sorted([(0, 1), (0, 2), (1, 2), (2, 3), (4, 5), (1, 0), (2, 0), (2, 1), (3, 2), (5, 4)])
    reverse = torch.tensor([pairs.index((b, a)) for a, b in pairs], dtype=torch.int32)
    lower = torch.tensor([k for k, (a, b) in enumerate(pairs) if a < b], dtype=torch.int32)
    return SimpleNamespace(
        pairs=pairs, edges=SimpleNamespace(reverse=reverse), lower=lower,
        graph=torch.tensor([0, 0, 0, 0, 1]), graph_pairs=torch.tensor([4, 1]),
    )  # fmt: skip


def scores_of(block: Any, **scores: float) -> Tensor:
    """Scores of edges, given as e01=0.5, in both directions."""
    return doubles(*(scores[f"e{min(pair)}{max(pair)}"] for pair in block.pairs))


def edges_in(block: Any, chosen: Tensor) -> set[tuple[int, int]]:
    return {pair for pair, inside in zip(block.pairs, chosen.tolist(), strict=True) if inside}


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, set()),
        (0.25, {(2, 3), (4, 5)}),
        (0.26, {(2, 3), (0, 2), (4, 5)}),
        (0.75, {(2, 3), (0, 2), (0, 1), (4, 5)}),
    ],
)
def test_the_top_share_of_every_graphs_edges_is_rounded_up(share: float, expected: set[tuple[int, int]]) -> None:
    block = two_graphs()
    scores = scores_of(block, e01=0.1, e02=0.4, e12=-3.0, e23=0.9, e45=-9.0)
    assert edges_in(block, highest(scores, block, share)) == expected | {(b, a) for a, b in expected}


def test_equal_edges_rank_by_their_order_whatever_rounding_does() -> None:
    block = two_graphs()
    for noise in (1e-9, -1e-9):
        scores = scores_of(block, e01=0.1, e02=0.1 + noise, e12=0.1 + 2 * noise, e23=0.1, e45=0.0)
        assert edges_in(block, highest(scores, block, 0.5)) == {(0, 1), (1, 0), (0, 2), (2, 0), (4, 5), (5, 4)}


def test_masks_and_their_gradients() -> None:
    """At score 0 p is 1/2 and its slope 1/4."""
    block = two_graphs()
    scores = torch.zeros(10, dtype=torch.float64, requires_grad=True)
    soft, hard = (cut(scores, block, 0.25, mask) for mask in ("soft_topk", "straight_through"))  # type: ignore[arg-type]
    inside = soft.chosen.double()
    assert torch.equal(soft.invariant, inside / 2) and torch.equal(soft.variant, (1 - inside) / 2)
    assert torch.equal(hard.invariant, inside) and torch.equal(hard.variant, 1 - inside)
    slopes = {"soft": (soft.invariant, inside / 4), "and": (soft.variant, (inside - 1) / 4),
              "hard": (hard.invariant, inside * 0 + 0.25), "too": (hard.variant, inside * 0 - 0.25)}  # fmt: skip
    for weights, expected in slopes.values():
        assert torch.allclose(torch.autograd.grad(weights.sum(), scores, retain_graph=True)[0], expected)


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_what_is_not_in_one_part_is_in_the_other(share: float) -> None:
    step = step_of(method(share=share), toy_graphs())
    network: Any = step.network
    parts = network.invariant(step.parameters, step.block, None).parts
    assert torch.equal(parts.invariant > 0, parts.chosen) and torch.equal(parts.variant > 0, ~parts.chosen)
    pairs = np.bincount(step.block.graph[parts.chosen[step.block.lower.long()]], minlength=4)
    assert pairs.tolist() == np.ceil(share * step.block.graph_pairs.numpy()).tolist()


def test_distances_and_hinge_by_hand() -> None:
    """(3, 0) and 4 from (0, 0) and 0: 25. max(0, 6 - 5)^2 = 1, max(0, 4 - 5)^2 = 0; at distance 0 no gradient."""
    gradients = {"a": doubles(3, 0).view(1, 2), "b": doubles(4).view(1, 1)}
    averages = {"a": torch.zeros(1, 1, 2, dtype=torch.float64), "b": torch.zeros(1, 1, 1, dtype=torch.float64)}
    assert squared_apart(gradients, averages, 1).tolist() == [25]
    assert hinge(doubles(25), 6.0).tolist() == [1] and hinge(doubles(25), 4.0).tolist() == [0]
    nothing = doubles(0).requires_grad_()
    assert torch.autograd.grad(hinge(nothing, 0.1).sum(), nothing)[0].tolist() == [0]


def with_averages(step: LocalStep, value: float) -> LocalStep:
    step.memory.averages = {name: torch.full_like(sums[:, :1], value) for name, sums in step.memory.sums.items()}
    return step


@pytest.mark.parametrize("mask", ["soft_topk", "straight_through"])
@pytest.mark.parametrize(
    "name", ["generator.pair.weight", "invariant.conv1.first.weight", "variant.conv2.second.weight"]
)
def test_the_terms_on_gradients_have_gradients(name: str, mask: str) -> None:
    """Second-order: the global loss by autograd and by differences, but for the generator straight through masks."""
    slopes = []
    for consistency, variety in ((0.0, 0.0), (0.3, 0.7)):
        chosen = method(consistency=consistency, variety=variety, margin=50.0, mask=mask, stages="epochs")
        step = with_averages(step_of(chosen, toy_graphs()), 0.01)
        by_autograd, by_differences = slope(chosen, step, name)
        if mask == "soft_topk" or not name.startswith("generator"):
            assert by_autograd == pytest.approx(by_differences, rel=1e-4)
        slopes.append(by_autograd)
    assert abs(slopes[1] - slopes[0]) > 1e-3 * abs(slopes[0])


def test_the_terms_are_lambda_and_beta_times_what_they_say() -> None:
    losses = {}
    for key in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)):
        chosen = method(consistency=key[0], variety=key[1], margin=50.0)
        step = with_averages(step_of(chosen, toy_graphs()), 0.01)
        losses[key] = chosen.objective(step).sum().item()
        found = step.memory.means(step.clients)
    apart = {part: sum(float((g - 0.01).square().sum()) for n, g in found.items() if n.startswith(part))
             for part in ("invariant.", "variant.")}  # fmt: skip
    assert losses[1.0, 0.0] - losses[0.0, 0.0] == pytest.approx(apart["invariant."])
    assert losses[0.0, 1.0] - losses[0.0, 0.0] == pytest.approx((50 - apart["variant."] ** 0.5) ** 2)


def reached(chosen: Method[Any], step: LocalStep) -> set[str]:
    found = torch.autograd.grad(chosen.objective(step).sum(), list(step.parameters.values()), allow_unused=True)
    return {name for name, gradient in zip(step.parameters, found, strict=True) if gradient is not None}


def test_each_stage_reaches_its_own_parameters_only() -> None:
    """The first epoch is global, the second private."""
    chosen, problem = method(stages="epochs"), toy_graphs()
    first, second = (replace(step_of(chosen, problem), epoch=epoch) for epoch in (0, 1))
    everything = set(first.parameters)
    assert reached(chosen, first) == {name for name in everything if name.startswith(GLOBAL)}
    assert reached(chosen, second) == {name for name in everything if name.startswith("own.")}
    assert reached(method(), step_of(method(), problem)) == everything
    cell = describe(problem, chosen, (0,), DOUBLE)
    assert chosen.local_epochs(1, cell, first.memory).tolist() == [[2, 2, 2]]
    assert series(run(chosen, problem, (0,), DOUBLE).history, "none", "local_epochs").tolist() == [[2, 2, 2]] * 2


def test_both_losses_at_once_are_the_sum_of_both() -> None:
    problem, joint, apart = toy_graphs(), method(), method(stages="epochs")
    step = step_of(joint, problem)
    network: Any = step.network
    invariant = network.invariant(step.parameters, step.block, step.dropout)
    private = step.block.loss(network.own_logits(step.parameters, step.block, invariant, step.dropout))
    both, alone = joint.objective(step), apart.objective(step_of(apart, problem))
    assert torch.allclose(both, alone + private)
    name = "invariant.conv1.first.weight"
    alone = apart.objective(step).sum()  # the private loss adds nothing to the gradient of the global part
    gradients = (torch.autograd.grad(loss, step.parameters[name])[0] for loss in (both.sum(), alone))
    assert torch.allclose(*gradients)


def test_gradients_of_a_round_are_averaged_or_the_last_is_taken() -> None:
    for last_only, expected in ((False, [2.0, 1.0]), (True, [3.0, 1.0])):
        state = GradientState({"w": torch.zeros(1, 2, 1, dtype=torch.float64)}, torch.zeros(1, 2))
        for value, taking in ((1.0, [True, True]), (3.0, [True, False])):
            gradient = torch.full((2, 1), value, dtype=torch.float64)
            state.add({"w": gradient}, torch.tensor([taking]), range(2), last_only=last_only)
        assert state.means(range(2))["w"].flatten().tolist() == expected
        state.renew({})
        assert state.means(range(2))["w"].flatten().tolist() == [0, 0]


def test_averages_go_by_training_graphs() -> None:
    problem, chosen = toy_graphs((3, 5), (2, 3), (15, 11)), method()
    cell = describe(problem, chosen, (0,), DOUBLE)
    name = "invariant.conv1.first.bias"
    state = GradientState({name: torch.zeros(1, 2, 1, dtype=torch.float64)}, torch.zeros(1, 2))
    uploads = {f"gradient {name}": doubles(1, 15).view(1, 2, 1)}
    weights = chosen.mixing(uploads, Exchange(cell, 1, state, {}))
    assert np.allclose(weights[0], [[9 / 14, 5 / 14]] * 2)
    assert state.averages[name].item() == pytest.approx((9 * 1 + 5 * 15) / 14)


def test_what_leaves_a_client() -> None:
    chosen, problem = method(), toy_graphs()
    cell = describe(problem, chosen, (0,), DOUBLE)
    cohort = start_cohort(cell, chosen, problem, [problem.client_data])
    assert {name.split(".")[0] + "." for name in cohort.shared} == set(SHARED)
    layer = 2 * (8 * 8 + 8)
    encoder, generator = 2 * layer, 2 * layer + (16 * 8 + 8) + (8 + 1)
    outcome = run(chosen, problem, (0,), DOUBLE)
    assert outcome.bytes_up == outcome.bytes_down == 2 * 3 * 4 * (generator + 2 * encoder + 2 * encoder)


def test_a_sum_over_nodes_with_an_edge_leaves_the_others_out() -> None:
    """In a graph without edges both parts are empty: h_inv is 0."""
    problem = toy_graphs()
    client = problem.client_data[0]
    lonely = int(np.flatnonzero(np.diff(client.start[client.nodes]) == np.diff(client.nodes))[0])
    for nodes, empty in (("incident", True), ("all", False)):
        step = step_of(method(nodes=nodes), problem)
        batch = ColouredEdgeBlock([client], DOUBLE, 2).batch([np.array([lonely])])
        network: Any = step.network
        assert (not network.invariant(step.parameters, batch, None).pooled.any()) == empty


def test_a_graph_is_the_same_alone_and_among_others() -> None:
    step, client = step_of(method(), toy_graphs()), toy_graphs().client_data[0]
    block, network = ColouredEdgeBlock([client], DOUBLE, 2), step.network
    together = network.forward(step.parameters, block.batch([np.arange(15)]), None)  # type: ignore[arg-type]
    for graph in range(15):
        alone = network.forward(step.parameters, block.batch([np.array([graph])]), None)  # type: ignore[arg-type]
        assert torch.allclose(alone[0, 0], together[0, graph])


def test_clients_of_one_width_are_computed_alone_or_together_alike() -> None:
    chosen, problem = method(), toy_graphs((4, 4), (2, 2))
    apart, together = run(chosen, problem, (2,), DOUBLE), run(chosen, problem, (2, 5), DOUBLE)
    both = series(together.history, "train", "loss").reshape(2, 2, -1)[:, 0]
    assert np.allclose(both, series(apart.history, "train", "loss"), atol=1e-9, rtol=0)
