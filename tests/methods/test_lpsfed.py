"""Each of LPSFed's mechanisms by itself."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from fedbench import seeds
from fedbench.configuration.merge import merged
from fedbench.configuration.method import load_method_file
from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe, run
from fedbench.errors import ConfigurationError
from fedbench.kernels.angles import angle_of_cosine, angle_of_logit
from fedbench.methods._lpsfed_anchor import anchor_frequencies, anchor_sizes, random_graph
from fedbench.methods._lpsfed_margins import bc_losses, margin_of, mean_margin
from fedbench.methods._lpsfed_popularity import codes_of, most_codes
from fedbench.methods._lpsfed_settings import AnchorSettings, SimilaritySettings
from fedbench.methods._lpsfed_similarity import divergences, mixing_of, similarities
from fedbench.methods.registry import build
from fedbench.models.ranking import InnerProduct
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.task import Place
from tests.reference.methods import lpsfed as plain
from tests.tasks.rec.test_rec_training import a_batch, training
from tests.tasks.rec.toys import one_client, toy_rec

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
VARIANTS = load_method_file("lpsfed", CONFIGS).variants
DOUBLE, PHI = Place(torch.float64), 5


def settings_of(**changes: Any) -> Any:
    model = {"backbone": "lgcn", "layers": 2, "width": 4, "embedding": {"frequencies": PHI}} | changes.pop("model", {})
    base = {"rounds": 2, "local_epochs": 2, "batch_size": 20, "optimiser": "rmsprop", "weight_decay": 0.02}
    return training(model=model, **(base | {"ranking": {"negatives": 2, "l2": 0.05}} | changes))


def method_of(variant: str = "default", own: dict[str, Any] | None = None, **changes: Any) -> Any:
    chosen = VARIANTS[variant]
    own = merged(merged(plain.SMALL, chosen.method), own or {})
    return build("lpsfed", own, settings_of(**{**chosen.training, **changes}))


# Angles and margins


@examples(max_examples=100, deadline=None)
@given(st.floats(-12, 12))
def test_the_angle_is_the_arccosine_with_its_slope(logit: float) -> None:
    f = torch.tensor(logit, dtype=torch.float64, requires_grad=True)
    angle = angle_of_logit(f)
    assert angle.item() == pytest.approx(math.acos(math.tanh(logit)), abs=1e-9)
    assert torch.cos(angle).item() == pytest.approx(math.tanh(logit), abs=1e-12)
    assert torch.autograd.grad(angle, f)[0].item() == pytest.approx(-1 / math.cosh(logit), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("value", [0.0, 30.0, -30.0, 1e4, -1e4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_slopes_are_finite_at_both_ends(value: float, dtype: torch.dtype) -> None:
    scores = torch.full((2, 3), value, dtype=dtype, requires_grad=True)
    bc_losses(scores, torch.tensor([0.0, math.pi], dtype=dtype), 0.07, "mlp_angle").sum().backward()
    assert torch.isfinite(scores.grad).all()
    cosine = torch.tensor([-1.0, 1.0], dtype=dtype, requires_grad=True)
    angle_of_cosine(cosine).sum().backward()
    assert torch.isfinite(cosine.grad).all()
    assert angle_of_cosine(cosine).tolist() == pytest.approx([math.pi, 0.0], abs=6e-4)


def test_a_margin_never_leads_past_pi() -> None:
    angle = torch.linspace(0, math.pi, 30, dtype=torch.float64)
    margin = margin_of(torch.full_like(angle, 0.7), angle)
    assert torch.allclose(margin, torch.where(angle < math.pi - 0.7, 0.7, math.pi - angle))
    scores = torch.tensor([[-3.0, 0.5]], dtype=torch.float64, requires_grad=True)
    losses = [bc_losses(scores, torch.tensor([m]), 0.5, "mlp_angle") for m in (0.01, 2.0, 3.0)]
    worst = math.log(1 + math.exp((math.tanh(0.5) + 1) / 0.5))
    assert losses[0].item() < worst
    assert [loss.item() for loss in losses[1:]] == pytest.approx([worst, worst], rel=1e-6)


def test_the_loss_by_hand() -> None:
    """cos R = 0 and 0: R + M = pi / 2 + pi / 6, whose cosine is -1/2."""
    scores = torch.zeros(1, 2, dtype=torch.float64)
    loss = bc_losses(scores, torch.tensor([math.pi / 6], dtype=torch.float64), 0.25, "mlp_angle")
    assert loss.item() == pytest.approx(math.log(1 + math.exp(2.0)), rel=1e-12)


def test_the_mean_margin_is_over_all_pairs() -> None:
    random = torch.Generator().manual_seed(0)
    users, items = (torch.randn(n, 3, generator=random, dtype=torch.float64) for n in (150, 7))
    strength = torch.rand(4, 2, generator=random, dtype=torch.float64)
    of_user, of_item = torch.arange(150) % 4, torch.arange(7) % 2
    pairs = [(u, i) for u in range(150) for i in range(7)]
    expected = [min(float(strength[u % 4, i % 2]), math.pi - math.acos(math.tanh(float(users[u] @ items[i]))))
                for u, i in pairs]  # fmt: skip
    found = mean_margin(InnerProduct(users, items), strength, of_user, of_item, "mlp_angle")
    assert found == pytest.approx(float(np.mean(expected)), rel=1e-9)


# Popularity


def test_every_degree_has_its_code() -> None:
    client = one_client(np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]), 4, 3)
    users, items = codes_of(client.taken, "distinct_degree")
    assert users.tolist() == [2, 2, 1, 0]  # degrees 2 2 1 0
    assert items.tolist() == [2, 1, 0]  # degrees 3 2 0
    many = one_client(np.array([[0, i] for i in range(45)]), 1, 45)
    assert [set(codes.tolist()) for codes in codes_of(many.taken, "buckets")] == [{4}, {0}]


@examples(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12), st.floats(0, 1))
def test_there_are_codes_enough(seed: int, users: int, items: int, density: float) -> None:
    pairs = np.argwhere(np.random.default_rng(seed).random((users, items)) < density)
    client = one_client(pairs.reshape(-1, 2), users, items)
    found = codes_of(client.taken, "distinct_degree")
    most = most_codes("distinct_degree", users, items, len(pairs))
    assert found[0].max() < most[0] and found[1].max() < most[1]


def packs_of(method: Any, problem: Any) -> Any:
    cell = describe(problem, method, (0,), DOUBLE)
    cohort = start_cohort(cell, method, problem, [problem.client_data])
    return cohort, method.memory(cell, [problem.client_data], cohort.uploads())


def held_out_taken_away(problem: Any) -> Any:
    """The same problem whose held-out pairs are other ones."""
    clients = [replace(c, val=c.test[:, :1], test=c.val[:, :1]) for c in problem.client_data]
    problem.__dict__["client_data"] = clients
    return problem


def test_held_out_pairs_enter_neither_graph_nor_codes_nor_anchor() -> None:
    method = method_of()
    (cohort, memory), (other, without) = (packs_of(method, p) for p in (toy_rec(), held_out_taken_away(toy_rec())))
    assert memory.anchor == without.anchor
    for k, (pack, twin) in enumerate(zip(cohort.packs, other.packs, strict=True)):
        assert torch.equal(pack.block.graph.indices, twin.block.graph.indices)
        assert torch.equal(pack.block.low_pass.users, twin.block.low_pass.users)
        assert torch.equal(memory.users[k], without.users[k]) and torch.equal(memory.items[k], without.items[k])
        client = pack.block.clients[0]
        assert (
            pack.block.graph.indices.numel()
            == client.train.shape[1]
            < sum(each.shape[1] for each in (client.train, client.val, client.test))
        )


def test_codes_learn_in_the_warm_up_alone() -> None:
    """Two epochs of warm-up in rounds of two: round 1 moves codes and nothing else, round 2 all but codes."""
    own, problem, states = {"bias": {"warmup_epochs": 2}}, toy_rec(24, 66, shared=0), []
    for rounds in (1, 2):
        cohort_of = method_of(own=own, rounds=rounds)
        states.append(final_parameters(cohort_of, problem))
    start = final_parameters(method_of(own=own, rounds=1, learning_rate=1e-30), problem)
    moved = [{n for n in start if not torch.allclose(a[n], b[n])} for a, b in ((start, states[0]), tuple(states))]
    codes = {"popularity.user", "popularity.item"}
    assert moved[0] == codes
    assert moved[1] == set(start) - codes


def final_parameters(method: Any, problem: Any) -> dict[str, torch.Tensor]:
    """Run a method, and return its first client's parameters at the end."""
    kept: dict[str, torch.Tensor] = {}
    signals = method.signals

    def watched(trained: Any) -> Any:
        if trained.clients.start == 0:
            kept.update({name: value.clone() for name, value in trained.local.items()})
        return signals(trained)

    method.signals = watched
    run(method, problem, (0,), DOUBLE)
    return kept


# Anchor, similarity, what is sent


@pytest.mark.parametrize("kind", ["gnmk", "fixed"])
def test_the_anchor_has_just_so_many_users_items_and_pairs(kind: str) -> None:
    graph = random_graph(kind, (20, 30, 111), np.random.default_rng(0))
    theirs = nx.bipartite.gnmk_random_graph(20, 30, 111, seed=0)
    assert graph.shape == (20, 30)
    assert graph.nnz == theirs.number_of_edges() == 111
    assert graph.sum_duplicates() is None and graph.data.max() == 1.0 and graph.has_sorted_indices


def test_every_pair_of_the_anchor_is_as_likely() -> None:
    counts = sum(random_graph("gnmk", (4, 5, 7), np.random.default_rng(seed)).toarray() for seed in range(4000))
    assert np.abs(counts - 4000 * 7 / 20).max() < 5 * math.sqrt(4000 * 0.35 * 0.65)
    sizes = [random_graph("er", (40, 50, 300), np.random.default_rng(seed)).nnz for seed in range(200)]
    assert abs(np.mean(sizes) - 300) < 5 * math.sqrt(300 / 200) and np.std(sizes) > 8


def test_anchor_sizes_are_the_clients_means() -> None:
    clients = np.array([[10, 20, 50], [20, 21, 61]])
    assert anchor_sizes(AnchorSettings(), clients) == (15, 20, 56)
    assert anchor_sizes(AnchorSettings(kind="fixed", sizes=(3, 4, 5)), clients) == (3, 4, 5)


def test_anchors_are_drawn_each_round_or_once() -> None:
    found = {
        refresh: [
            anchor_frequencies(AnchorSettings(refresh=refresh), (30, 40, 200), 6, seed, round)  # type: ignore[arg-type]
            for seed, round in ((0, 1), (0, 2), (1, 1))
        ]
        for refresh in ("round", "once")
    }
    assert not torch.equal(found["round"][0], found["round"][1])
    assert torch.equal(found["once"][0], found["once"][1])
    assert not torch.equal(found["once"][0], found["once"][2])


def test_anchor_frequencies_are_those_of_a_dense_laplacian() -> None:
    """A graph large enough for the iteration; its bulk is dense, the hard case."""
    sizes, settings = (400, 500, 6000), AnchorSettings()
    found = anchor_frequencies(settings, sizes, 32, 0, 1).numpy()
    taken = random_graph("gnmk", sizes, seeds.generator("lpsfed anchor", 0, 1)).toarray()
    scaled = taken / np.sqrt(np.outer(taken.sum(1), taken.sum(0)).clip(1))
    assert np.abs(found - (1 - np.linalg.svd(scaled)[1][:32])).max() < 1e-3


def test_divergence_by_hand() -> None:
    anchor, clients = torch.tensor([[0.0, 0.5, 0.5]]), torch.tensor([[[0.0, 0.5, 0.5], [0.0, 0.2, 0.6]]])
    for kind, expected in (
        ("sum", 0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)),
        ("raw", 0.5 * math.log(0.5 / 0.2) + 0.5 * math.log(0.5 / 0.6)),
        ("hist", 3 / 5 * math.log(3 / 3)),  # two parts: 1 + 1 and 2 + 1 of 5, both
    ):
        own = SimilaritySettings(kl_normalize=kind, bins=2)  # type: ignore[arg-type]
        rho = divergences(own, anchor, clients)
        assert rho[0].tolist() == pytest.approx([0.0, expected if kind != "hist" else rho[0, 1].item()], abs=1e-6)


def test_a_client_with_few_frequencies_shortens_all() -> None:
    anchor, clients = torch.tensor([[0.0, 0.3, 0.4]]), torch.tensor([[[0.0, 0.3, 1.0], [0.0, 0.3, 0.9]]])
    cut = divergences(SimilaritySettings(), anchor, clients)
    assert cut[0].tolist() == pytest.approx([0.0, 0.0], abs=1e-9)
    padded = divergences(SimilaritySettings(phi_pad="ones"), anchor, clients)
    assert padded[0, 0] > padded[0, 1] > 0


def test_zeros_of_further_components_can_be_left_out() -> None:
    anchor, clients = torch.tensor([[0.0, 0.3, 0.4]]), torch.tensor([[[1e-8, -2e-7, 0.3], [0.0, 0.3, 0.4]]])
    kept = divergences(SimilaritySettings(), anchor, clients)
    assert kept[0, 0] > 5 and kept[0, 1] == pytest.approx(0.0, abs=1e-6)
    dropped = divergences(SimilaritySettings(zeros="dropped"), anchor, clients)  # all compare one eigenvalue, 0.3
    assert dropped[0].tolist() == pytest.approx([0.0, 0.0], abs=1e-6)
    shares = np.array([[0.3, 0.4, 1], [0.3, 1, 1]]) / [[1.7], [2.3]]
    padded = divergences(SimilaritySettings(zeros="dropped", phi_pad="ones"), anchor, clients)
    assert float(padded[0, 0]) == pytest.approx((shares[0] * np.log(shares[0] / shares[1])).sum(), abs=1e-6)


def test_the_nearest_takes_the_average_and_the_farthest_nothing() -> None:
    near = similarities(torch.tensor([[0.1, 0.4, 0.2]]), "minmax")
    assert near[0].tolist() == pytest.approx([1.0, 0.0, 2 / 3])
    assert similarities(torch.tensor([[0.1, 0.4, 0.2]]), "max")[0].tolist() == pytest.approx([0.75, 0.0, 0.5])
    assert similarities(torch.tensor([[0.3, 0.3]]), "minmax")[0].tolist() == [1.0, 1.0]
    weights = mixing_of(near)[0]
    assert weights[0].tolist() == pytest.approx([1 / 3] * 3)
    assert weights[1].tolist() == pytest.approx([0.0, 1.0, 0.0])
    assert weights[2].tolist() == pytest.approx([2 / 9, 2 / 9, 5 / 9])


def test_what_leaves_a_client_is_both_networks_and_a_few_numbers() -> None:
    method, problem = method_of(), toy_rec(24, 66, shared=3)
    cohort, _ = packs_of(method, problem)
    assert set(cohort.shared) == {f"{net}1.{part}" for net in ("pool", "predict") for part in ("weight", "bias")}
    assert not cohort.rows
    networks = (3 * 4 * 4 + 4) + (3 * 4 + 1)
    outcome = run(method, problem, (0,), DOUBLE)
    assert outcome.bytes_up == 3 * 4 * (2 * (networks + 2) + 4)  # clients, bytes, rounds; four numbers at the start
    assert outcome.bytes_down == 2 * 3 * 4 * (networks + PHI + 1)
    silent = run(method_of("no-per-no-bias"), problem, (0,), DOUBLE)
    assert silent.bytes_up == silent.bytes_down == 2 * 3 * 4 * networks


def test_all_pairs_are_scored_as_in_training() -> None:
    for own in ({}, {"pred_mlp_layers": 3}):
        method, problem = method_of(own=own), toy_rec(24, 66, shared=0)
        cohort, _ = packs_of(method, problem)
        pack = cohort.packs[1]
        block = RecBlock([problem.client_data[1]], DOUBLE, PHI)
        batch = a_batch(block, 30, method.training.ranking)
        with torch.no_grad():
            scores = pack.network.forward(pack.parameters, batch, None).scores
            (scorer,) = pack.network.scorers(pack.parameters, block)
            everyone = scorer.scores(batch.user_rows[batch.user])
        assert torch.allclose(scores, everyone.gather(1, batch.item_rows[batch.item]), atol=1e-12)


def test_no_table_of_all_pairs_is_kept() -> None:
    """Memory of the margin's pass is a chunk's: 3,000 users x 3,000 items would be 72 MB."""
    import tracemalloc

    users, items = torch.randn(3000, 4, dtype=torch.float64), torch.randn(3000, 4, dtype=torch.float64)
    seen: list[int] = []

    class Watched(InnerProduct):
        def scores(self, users: torch.Tensor) -> torch.Tensor:
            seen.append(len(users))
            return super().scores(users)

    code = torch.zeros(3000, dtype=torch.int64)
    tracemalloc.start()
    mean_margin(Watched(users, items), torch.ones(1, 1, dtype=torch.float64), code, code, "mlp_angle")
    tracemalloc.stop()
    assert sum(seen) == 3000 and max(seen) <= 64


def test_another_task_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="task 'node'"):
        build("lpsfed", {}, training().model_copy(update={"task": "node"}))
    with pytest.raises(ConfigurationError, match="filtered"):
        build("lpsfed", {"convolution": "ngcf", "similarity": {"signature": "filtered"}}, settings_of())
