"""Which nodes are hidden, what is missing then, and over which nodes losses go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbench.neighgen.impair import generator_split, impair
from fedbench.neighgen.settings import NeighGenSettings
from tests.toys import toy_problem

GRAPH = toy_problem((60,)).client_graph(0)


@pytest.mark.parametrize(("portion", "hidden"), [(0.0, 0), (0.278, 16), (0.5, 30), (0.99, 59)])
def test_the_portion_is_of_all_nodes(portion: float, hidden: int) -> None:
    impaired = impair(GRAPH, NeighGenSettings(hidden_portion=portion), 0, 0)
    assert impaired.size == 60 - hidden
    assert (np.diff(impaired.kept) > 0).all()


def test_what_is_missing_is_what_was_cut() -> None:
    impaired = impair(GRAPH, NeighGenSettings(hidden_portion=0.4), 0, 0)
    kept = set(impaired.kept.tolist())
    neighbours = {v: {int(t) for s, t in GRAPH.edges.T if s == v} for v in range(60)}
    for new, old in enumerate(impaired.kept):
        missing = impaired.missing[impaired.missing_start[new] : impaired.missing_start[new + 1]]
        assert set(missing.tolist()) == neighbours[old] - kept
        assert impaired.missing_counts[new] == len(missing)
        left = {int(impaired.kept[t]) for s, t in impaired.edges.T if s == new}
        assert left == neighbours[old] & kept
    assert impaired.missing_counts.sum() > 0


def test_losses_go_over_kept_nodes_and_labels_over_training_nodes() -> None:
    impaired = impair(GRAPH, NeighGenSettings(), 0, 0)
    assert impaired.loss_nodes.tolist() == list(range(impaired.size))
    assert impaired.label_nodes.tolist() == np.flatnonzero(GRAPH.split[impaired.kept] == 0).tolist()


def test_the_released_split_hides_a_part_of_a_fifth_and_learns_on_the_rest() -> None:
    impaired = impair(GRAPH, NeighGenSettings(split="generator", hidden_portion=0.5), 0, 0)
    assert impaired.size == 60 - 6
    assert len(impaired.loss_nodes) == 36
    assert (GRAPH.split[impaired.kept[impaired.label_nodes]] == 0).all()
    leaking = impair(GRAPH, NeighGenSettings(split="generator", labels="generator", hidden_portion=0.5), 0, 0)
    assert leaking.label_nodes.tolist() == leaking.loss_nodes.tolist()
    assert (GRAPH.split[leaking.kept[leaking.label_nodes]] == 2).any()


def test_the_split_of_the_task_does_not_matter_to_what_is_hidden() -> None:
    other = replace(GRAPH, split=1 - np.minimum(GRAPH.split, 1))
    assert (
        impair(other, NeighGenSettings(), 0, 0).kept.tolist() == impair(GRAPH, NeighGenSettings(), 0, 0).kept.tolist()
    )


def test_seeds_and_clients_hide_different_nodes() -> None:
    kept = [tuple(impair(GRAPH, NeighGenSettings(), seed, client).kept) for seed, client in ((0, 0), (1, 0), (0, 1))]
    assert len(set(kept)) == 3


@given(labels=st.lists(st.integers(0, 4), max_size=80), seed=st.integers(0, 5))
def test_the_split_is_stratified(labels: list[int], seed: int) -> None:
    """Each class, and the whole, gets 60/20/20 but for what five doesn't divide."""
    classes = np.array(labels, dtype=np.int64)
    part = generator_split(classes, np.random.default_rng(seed))
    for members in [part, *(part[classes == c] for c in range(5))]:
        for which, share in enumerate((0.6, 0.2, 0.2)):
            assert abs((members == which).sum() - share * len(members)) < 1.7
