"""FedSST: signal, distances, weights, epochs and fusion by hand; what the settings make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.engine.run import describe, run
from fedbench.engine.server import server_step
from fedbench.errors import ConfigurationError
from fedbench.methods._fedsst_probe import ProbeSettings, degree_quadratic, draw_probe, trace
from fedbench.methods._fedsst_weights import (
    EpochSettings,
    FusionSettings,
    ScoreSettings,
    Standing,
    relative_distance,
    weights,
)
from fedbench.methods.exchange import Exchange
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.match import SMALL, method_of, series
from tests.tasks.toy_graphs import toy_graphs

DOUBLE = Place(torch.float64)
CPU = torch.device("cpu")
NAMES = ("structure", "distance", "weight", "alpha", "local_epochs")


def row(*values: float) -> Tensor:
    return torch.tensor([values], dtype=torch.float64)


def standing(*weight: float) -> Standing:
    return Standing(row(*weight), row(*weight), row(*weight))


def test_signal_of_three_nodes_by_hand() -> None:
    """S = [[1, 0, .6], [0, 1, .8], [.6, .8, 1]], d = (1.6, 1.8, 2.4); d' L d = .6 * .8^2 + .8 * .6^2, d' d = 11.56.

    trace(H' L H) = .6 |h_0 - h_2|^2 + .8 |h_1 - h_2|^2 = .6 * .8 + .8 * .4.
    """
    h = torch.tensor([[1, 0], [0, 1], [0.6, 0.8]], dtype=torch.float64)
    assert float(degree_quadratic(h, 0.0)) == pytest.approx(0.672 / 11.56)
    assert float(degree_quadratic(h, 1.0)) == pytest.approx(0.672 / 12.56)
    assert float(trace(h, 0.0)) == pytest.approx(0.8)
    equal = torch.ones(4, 2, dtype=torch.float64) / 2**0.5
    assert float(degree_quadratic(equal, 0.0)) == pytest.approx(0, abs=1e-12)


def test_signal_takes_unit_rows_of_the_first_convolution() -> None:
    """With identity weights H = relu((A + I) X); scaling the second layer doesn't matter, its sign does."""
    probe = draw_probe(ProbeSettings(), CPU)
    eye, none = torch.eye(5, dtype=torch.float64).expand(1, 2, 5, 5), torch.zeros(1, 2, 5, dtype=torch.float64)
    scaled = eye * torch.tensor([3.0, -1.0]).view(1, 2, 1, 1)
    signal = probe.signal(
        {"conv1.first.weight": eye, "conv1.first.bias": none, "conv1.second.weight": scaled, "conv1.second.bias": none},
        range(2),
    )
    h = torch.relu(probe.around @ probe.features(5))
    unit = h / h.norm(dim=1, keepdim=True).clamp(min=1e-12)
    assert float(signal[0, 0]) == pytest.approx(float(degree_quadratic(unit, 1e-8)))
    assert float(signal[0, 1]) == 0


def test_probe_has_the_notes_degree_homophily_and_features() -> None:
    inside, across = 0.0, 0.0
    for seed in range(300):
        probe = draw_probe(ProbeSettings(seed=seed, no_isolated=False), CPU)
        edges = probe.around - torch.eye(20, dtype=torch.float64)
        assert torch.equal(edges, edges.T) and not edges.diagonal().any()
        same = probe.blocks[:, None] == probe.blocks
        inside += float(edges[same].sum()) / 20 / 300
        across += float(edges[~same].sum()) / 20 / 300
    assert inside + across == pytest.approx(3.0, abs=0.1)  # a standard error is 0.03
    assert inside / (inside + across) == pytest.approx(0.75, abs=0.02)
    probe = draw_probe(ProbeSettings(mu=1e6), CPU)
    x = probe.features(128)
    assert torch.equal(torch.sign(x @ x[0]), probe.blocks)
    assert float(draw_probe(ProbeSettings(mu=0.0), CPU).features(128).square().sum(1).mean()) == pytest.approx(
        1, abs=0.1
    )


def test_probe_without_isolated_nodes_is_drawn_again() -> None:
    alone = [
        s for s in range(40) if not (draw_probe(ProbeSettings(seed=s, no_isolated=False), CPU).around.sum(1) > 1).all()
    ]
    assert alone
    assert all((draw_probe(ProbeSettings(seed=s), CPU).around.sum(1) > 1).all() for s in alone)


def test_distances_by_hand_and_equal_signals() -> None:
    found = relative_distance(row(0.010, 0.012, 0.020), 0.0)
    assert found.tolist()[0] == pytest.approx([0, 0.2, 1])
    assert relative_distance(row(0.02, 0.02), 1e-8).tolist() == [[0, 0]]
    assert relative_distance(row(0.02, 0.02), 0.0).tolist() == [[0, 0]]
    tiny = relative_distance(row(0.02, 0.02 + 1e-6), 1e-8)  # a client is far away however small the spread
    assert tiny.tolist()[0] == pytest.approx([0, 1 / 1.01])


def test_scores_and_thresholds_by_hand() -> None:
    plain = {"base": 1.0, "far": 0.5, "far_rate": np.log(2), "middle": 2.0, "spread": 0.5 / (2 * np.log(2)) ** 0.5}
    # far: 0.5 (1 - 2^-r) = 0, 0.25 at r = 0, 1; the bump is 2 at r = 1/2, and 2 / 2 at both ends
    scores = np.array([2.0, 1 + 0.5 * (1 - 2**-0.5) + 2, 2.25])
    distance = row(0, 0.5, 1)
    for rule, expected in {
        "none": scores,
        "floor": np.maximum(scores, 0.9 * scores.mean()),
        "clip": np.minimum(np.maximum(scores, 0.9 * scores.mean()), 1.2 * scores.mean()),
    }.items():
        found = weights(distance, ScoreSettings(threshold=rule, low=0.9, high=1.2, **plain))  # type: ignore[arg-type]
        assert found.tolist()[0] == pytest.approx(expected / expected.sum())
    assert scores[0] < 0.9 * scores.mean() and scores[1] > 1.2 * scores.mean()


def test_equal_signals_give_equal_weights() -> None:
    assert Standing.of(row(0.3, 0.3, 0.3, 0.3), ScoreSettings()).weight.tolist() == [[0.25] * 4]


def test_with_seven_clients_the_inferred_threshold_cannot_act() -> None:
    """Scores lie between 1.04 and 2.39, and half of the mean and its double outside that, whoever stands where."""
    random = np.random.default_rng(0)
    for _ in range(200):
        middle = 0.52 + random.choice([0.0, 0.05, 0.5]) * (random.random(5) - 0.5)
        distance = row(0, 1, *middle.tolist())
        clipped, free = (weights(distance, ScoreSettings(threshold=rule)) for rule in ("clip", "none"))  # type: ignore[arg-type]
        assert torch.equal(clipped, free)
    ten = row(0, 1, *[0.52] * 8)
    assert not torch.equal(weights(ten, ScoreSettings()), weights(ten, ScoreSettings(threshold="none")))


def test_epochs_are_rounded_to_even_and_clipped() -> None:
    """1 + 10 w = 1.5, 2.5, 3.5, 1; 11 is clipped to 5; with base 2 twice as many."""
    found = standing(0.05, 0.15, 0.25, 0.0, 1.0)
    assert found.epochs(EpochSettings(gain=10.0)).tolist() == [[2, 2, 4, 1, 5]]
    assert found.epochs(EpochSettings(gain=10.0, least=2, most=3)).tolist() == [[2, 2, 3, 2, 3]]
    assert found.epochs(EpochSettings(gain=10.0, base=2, most=50)).tolist() == [[3, 5, 7, 2, 22]]


def test_alpha_by_hand() -> None:
    found = standing(0.2, 0.3, 0.5)
    assert found.alpha(FusionSettings()).tolist()[0] == pytest.approx([0.26, 0.34, 0.5])
    assert found.alpha(FusionSettings(weight="max1")).tolist()[0] == pytest.approx([0.42, 0.58, 0.9])
    assert found.alpha(FusionSettings(least=0.5, most=0.5)).tolist()[0] == pytest.approx([0.5] * 3)


def served(fusion: dict[str, Any]) -> tuple[list[float], Any]:
    """Two clients, a number in place of theta: theta_G = 10, theta = 0, 20; w = 1/4, 3/4, alpha = 0.1 + 0.8 w."""
    problem, training = toy_graphs((3, 5), (2, 3)), TrainingSettings.model_validate(SMALL["graph"])
    method = build("fedsst", {"fusion": fusion}, training)
    cell, start = describe(problem, method, (0,), DOUBLE), torch.full((1, 2, 1), 10.0, dtype=torch.float64)
    memory = method.memory(cell, [], {"theta": start})
    memory.standing = standing(0.25, 0.75)
    stack = {"theta": torch.tensor([0.0, 20.0], dtype=torch.float64).view(1, 2, 1)}
    signals = {"structure": row(0.01, 0.02)}
    server_step(method, stack, signals, Exchange(cell, 1, memory, {"theta": start}), {})
    return stack["theta"].flatten().tolist(), memory


def test_fusion_and_sum_by_hand() -> None:
    """alpha = 0.3, 0.7: theta^int = 3, 7 + 6 = 13; theta_G <- 3 / 4 + 3 * 13 / 4 = 10.5."""
    assert served({})[0] == pytest.approx([10.5, 10.5])
    personal, memory = served({"start_from": "integrated"})
    assert personal == pytest.approx([3, 13])
    assert memory.model["theta"].flatten().tolist() == pytest.approx([10.5])


def test_signals_of_a_round_count_from_the_next_one_on() -> None:
    memory = served({})[1]
    assert memory.used.weight.tolist() == [[0.25, 0.75]]
    assert memory.standing.distance.tolist()[0] == pytest.approx([0, 1], abs=1e-5)


def history(variant: str, **changes: Any) -> dict[str, np.ndarray]:
    method = method_of("fedsst", variant, SMALL["graph"] | {"rounds": 4}, changes)
    outcome = run(method, toy_graphs(), (1,), DOUBLE)
    return {name: series(outcome.history, "none", name) for name in NAMES} | {
        "loss": series(outcome.history, "train", "loss"), "bytes": np.array(outcome.bytes_up)
    }  # fmt: skip


def test_diagnostics_tell_whether_weights_depart_from_uniform() -> None:
    found = history("default", epochs={"gain": 6.0, "most": 9})
    assert all(found[name].shape == (4, 3) for name in NAMES)
    assert np.allclose(found["weight"].sum(1), 1)
    assert np.allclose(found["weight"][0], 1 / 3) and (found["local_epochs"][0] == 3).all()
    assert (np.ptp(found["weight"][1:], axis=1) > 0.01).all()
    assert np.allclose(found["alpha"], 0.1 + 0.8 * found["weight"])
    assert np.array_equal(found["local_epochs"], np.round(1 + 6 * found["weight"]))
    assert len(set(found["local_epochs"][1:].flatten())) > 1
    assert (found["distance"][1:].min(1) == 0).all() and np.allclose(found["distance"][1:].max(1), 1, atol=1e-3)


def test_probing_what_clients_received_makes_all_alike() -> None:
    found = history("received")
    assert np.allclose(found["weight"], 1 / 3, atol=1e-6)
    assert np.ptp(found["structure"], axis=1).max() < 1e-15


def test_with_this_rounds_signals_already_the_first_round_has_weights() -> None:
    assert np.ptp(history("this-round")["weight"][0]) > 0.01


def test_modules_switch_off_one_by_one() -> None:
    without = history("no-slta", epochs={"gain": 6.0})
    assert (without["local_epochs"] == 1).all() and np.ptp(without["weight"][1]) > 0.01
    average = history("no-ssca", epochs={"gain": 6.0})
    assert (average["alpha"] == 0).all() and (average["local_epochs"][0] == 3).all()
    plain = method_of("fedavg", "default", SMALL["graph"] | {"rounds": 4}, {"weights": "train_nodes"})
    outcome, neither = run(plain, toy_graphs(), (1,), DOUBLE), history("neither")
    assert np.allclose(neither["loss"], series(outcome.history, "train", "loss"), atol=1e-12)
    assert neither["bytes"] == outcome.bytes_up
    assert without["bytes"] == outcome.bytes_up + 4 * 3 * 4  # one number of 32 bits a client and round


def test_one_graph_for_all_seeds_of_a_run() -> None:
    first, second = (draw_probe(ProbeSettings(), CPU) for _ in range(2))
    assert torch.equal(first.around, second.around) and torch.equal(first.features(7), second.features(7))
    other = draw_probe(ProbeSettings(seed=1), CPU)
    assert not torch.equal(other.around, first.around)
    assert not torch.equal(replace(first, settings=other.settings).features(7), first.features(7))


def test_a_probe_through_the_input_layer_needs_a_trained_model() -> None:
    with pytest.raises(ConfigurationError, match="private input layer"):
        method_of("fedsst", "input", SMALL["graph"], {"probe": {"model": "received"}})
