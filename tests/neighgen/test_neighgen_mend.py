"""What a mended graph keeps and gains, and what a client's result depends on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from fedbench.errors import TrainingError
from fedbench.neighgen import Mended, NeighGenSettings, mend
from fedbench.neighgen.impair import impair
from fedbench.tasks.node.arrays import ClientGraph
from tests.neighgen.plain import CPU, DOUBLE
from tests.toys import toy_problem

PROBLEM = toy_problem((25, 30, 19))
GRAPHS = [PROBLEM.client_graph(client) for client in range(3)]
SMALL: dict[str, Any] = {
    "predicted_neighbours": 2, "encoder_width": 8, "latent": 6, "generator_widths": (5, 7), "learning_rate": 0.05,
    "generator_epochs": 8, "federated_epochs": 2, "hidden_portion": 0.4,
}  # fmt: skip


def mended(graphs: list[ClientGraph] = GRAPHS, seed: int = 1, chunk: int = 256, **settings: Any) -> Mended:
    own = NeighGenSettings(**SMALL | settings)
    return mend(graphs, PROBLEM.width, PROBLEM.classes, own, seed, DOUBLE, CPU, chunk=chunk)


def same(one: ClientGraph, other: ClientGraph) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ClientGraph.__dataclass_fields__)


@pytest.mark.parametrize("nodes", ["kept", "all"])
def test_real_nodes_stay_and_generated_ones_are_appended(nodes: str) -> None:
    result = mended(mended_nodes=nodes)
    assert sum(result.diagnostics["generated"]) > 0
    for client, (old, new) in enumerate(zip(GRAPHS, result.graphs, strict=True)):
        real, edges, entries = old.size, old.edges.shape[1], len(old.feature_rows)
        for name in ("labels", "split", "owner"):
            assert np.array_equal(getattr(new, name)[:real], getattr(old, name))
            assert getattr(new, name).dtype == getattr(old, name).dtype
        assert np.array_equal(new.edges[:, :edges], old.edges)
        for name in ("feature_rows", "feature_columns", "feature_values"):
            assert np.array_equal(getattr(new, name)[:entries], getattr(old, name))
        generated = new.size - real
        assert generated == result.diagnostics["generated"][client]
        assert set(new.split[real:]) <= {3}
        assert set(new.labels[real:]) <= {0}
        assert set(new.owner[real:]) <= {client}
        assert np.array_equal(np.bincount(new.feature_rows, minlength=new.size)[real:], [PROBLEM.width] * generated)


def test_each_generated_node_hangs_on_one_kept_node_both_ways() -> None:
    for client, (old, new) in enumerate(zip(GRAPHS, mended().graphs, strict=True)):
        more = new.edges[:, old.edges.shape[1] :]
        assert {(int(s), int(t)) for s, t in more.T} == {(int(t), int(s)) for s, t in more.T}
        inward = more[:, more[1] >= old.size]
        assert sorted(inward[1]) == list(range(old.size, new.size))
        kept = impair(old, NeighGenSettings(**SMALL), 1, client).kept
        assert np.isin(inward[0], kept).all()
        assert np.bincount(inward[0], minlength=1).max() <= SMALL["predicted_neighbours"]


def test_hidden_nodes_get_neighbours_too_if_asked() -> None:
    owners = [
        new.edges[0, old.edges.shape[1] :] for old, new in zip(GRAPHS, mended(mended_nodes="all").graphs, strict=True)
    ]
    kept = [impair(old, NeighGenSettings(**SMALL), 1, client).kept for client, old in enumerate(GRAPHS)]
    assert any((~np.isin(o[o < g.size], k)).any() for o, g, k in zip(owners, GRAPHS, kept, strict=True))


def test_the_same_seed_gives_the_same_graphs_and_another_one_others() -> None:
    first, again, other = mended(), mended(), mended(seed=2)
    assert all(same(a, b) for a, b in zip(first.graphs, again.graphs, strict=True))
    assert first.diagnostics == again.diagnostics
    assert not any(same(a, b) for a, b in zip(first.graphs, other.graphs, strict=True))


@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_chunks_change_nothing(chunk: int) -> None:
    assert all(same(a, b) for a, b in zip(mended().graphs, mended(chunk=chunk).graphs, strict=True))


@pytest.mark.parametrize("mode", ["exact_minimum", "sampled"])
def test_other_clients_matter_through_the_cross_client_term_only(mode: str) -> None:
    """Without it, client 0 gets the same neighbours whatever the others hold; with it, it doesn't."""
    strangers = [toy_problem((25, 30, 19), seed=9).client_graph(client) for client in (1, 2)]
    swapped = [GRAPHS[0], *strangers]
    alone = {"cross_client_weight": 0.0, "cross_client": mode}
    assert same(mended(**alone).graphs[0], mended(swapped, **alone).graphs[0])
    assert not same(mended(cross_client=mode).graphs[0], mended(swapped, cross_client=mode).graphs[0])


def test_labels_outside_the_training_split_are_never_read() -> None:
    blind = [replace(g, labels=np.where(g.split == 0, g.labels, (g.labels + 1) % 4)) for g in GRAPHS]
    for one, other in zip(mended().graphs, mended(blind).graphs, strict=True):
        assert np.array_equal(one.feature_values, other.feature_values)
        assert np.array_equal(one.edges, other.edges)


def test_the_local_phase_alone_sends_nothing() -> None:
    result = mended(federated=False)
    assert (result.bytes_up, result.bytes_down) == (0, 0)
    assert "federated" not in result.diagnostics


def test_bytes_by_hand() -> None:
    """fGen has 6x5+5 + 5x7+7 + 2x(7x12+12) numbers; clients that generate send them to 2 others in 2 epochs."""
    result = mended()
    generator = 30 + 5 + 35 + 7 + 2 * (84 + 12)
    sent = result.diagnostics["bytes"]
    generating = sum(count > 0 for count in result.diagnostics["generated"])
    assert 0 < generating < 3
    assert sent["weights"] == sent["gradients"] == 4 * generating * 2 * 2 * generator
    owners = [set(n.edges[0][n.edges[1] >= g.size]) for g, n in zip(GRAPHS, result.graphs, strict=True)]
    assert sent["embeddings"] == 4 * 2 * (6 + 1) * sum(len(o) for o in owners)
    assert result.bytes_up == result.bytes_down == sum(sent.values())


def test_clients_that_can_teach_nothing() -> None:
    """A client without edges, one without a labelled node, and one whose features are all 0."""
    bare = replace(GRAPHS[0], edges=GRAPHS[0].edges[:, :0])
    unlabelled = replace(GRAPHS[1], split=np.ones_like(GRAPHS[1].split))
    blank = replace(GRAPHS[2], feature_values=np.zeros_like(GRAPHS[2].feature_values))
    for mode in ("exact_minimum", "sampled"):
        result = mended([bare, unlabelled, blank], cross_client=mode)
        assert all(np.isfinite(graph.feature_values).all() for graph in result.graphs)


def test_a_single_client_has_nobody_to_learn_from() -> None:
    result = mended(GRAPHS[:1])
    assert result.bytes_up == 0
    assert all(losses["cross_client"] == 0.0 for losses in result.diagnostics["federated"][0])


def test_a_loss_that_is_not_finite_stops() -> None:
    broken = replace(GRAPHS[0], feature_values=GRAPHS[0].feature_values * np.float32(np.nan))
    with pytest.raises(TrainingError, match="finite"):
        mended([broken, *GRAPHS[1:]], row_scale="as_given")


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(ValidationError):
        NeighGenSettings.model_validate({"hidden_portions": 0.3})


def test_float32_works() -> None:
    own = NeighGenSettings(**SMALL)
    result = mend(GRAPHS, PROBLEM.width, PROBLEM.classes, own, 1, torch.float32, CPU)
    assert sum(result.diagnostics["generated"]) > 0
