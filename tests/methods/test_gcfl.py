"""GCFL's and GCFL+'s server, fed by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from fedbench.configuration.protocol import TrainingSettings
from fedbench.methods.exchange import Cell, Exchange
from fedbench.methods.registry import build
from fedbench.tasks.task import Shape

SMALL = TrainingSettings.model_validate({"rounds": 10, "learning_rate": 0.01, "model": {"width": 8}})
EAGER = {"eps1": 1e3, "eps2": 0.0, "burn_in": 2}
"""Thresholds that always hold."""


def cell_of(clients: int, seeds: int = 1) -> Cell:
    sizes = torch.arange(1, clients + 1)
    return Cell((Shape(2, 2),) * len(sizes), tuple(range(seeds)), 10 * sizes, sizes, torch.float64, torch.device("cpu"))


class Server:
    """A method's server, round after round, fed with updates by hand."""

    def __init__(self, name: str, clients: int, seeds: int = 1, **settings: Any) -> None:
        self.method, self.cell, self.round = build(name, settings, SMALL), cell_of(clients, seeds), 0
        self.memory = self.method.memory(self.cell, [], {})

    def step(self, updates: Any, norms: Any = None) -> Tensor:
        """Return W of the next round; ``updates`` [S, K, ...] on top of parameters that are 5 everywhere."""
        self.round += 1
        received = {"w": torch.full_like(torch.tensor(updates, dtype=torch.float64), 5.0)}
        uploads = {"w": received["w"] + torch.tensor(updates, dtype=torch.float64)}
        if norms is not None:
            uploads["gradient_norm"] = torch.tensor(norms, dtype=torch.float64)
        return self.method.mixing(uploads, Exchange(self.cell, self.round, self.memory, received))

    @property
    def clusters(self) -> list[list[list[int]]]:
        return [state.clusters for state in self.memory.seeds]


OPPOSED = [[[1.0, 0.1], [-1.0, 0.1], [1.0, -0.1], [-1.0, -0.1]]]
"""Two pairs that pull in opposite directions: their mean is 0, each update 1.005 long."""


def test_two_directions_are_two_clusters() -> None:
    server = Server("gcfl", 4, eps1=0.05, eps2=0.1, burn_in=0)
    weights = server.step(OPPOSED)
    assert server.clusters == [[[0, 2], [1, 3]]]
    assert weights[0].tolist() == [[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5]] * 2


@pytest.mark.parametrize(
    "settings", [{"eps1": 1e-9, "eps2": 2.0}, {"eps2": 1.01}, {"burn_in": 1}, {"relative": True, "eps1": 0.5}]
)
def test_each_part_of_the_criterion_can_hold_a_cluster_together(settings: dict[str, Any]) -> None:
    server = Server("gcfl", 4, **({"burn_in": 0} | settings))
    weights = server.step(OPPOSED)
    assert server.clusters == [[[0, 1, 2, 3]]]
    assert weights[0].tolist() == [[0.25] * 4] * 4
    assert weights.stride(1) == 0  # one row serves all: the engine mixes by one product


def test_a_long_mean_update_holds_a_cluster_together() -> None:
    server = Server("gcfl", 3, eps1=0.9, eps2=0.1, burn_in=0)  # mean update (1, 0)
    server.step([[[1.0, 0.0], [1.0, 1.0], [1.0, -1.0]]])
    assert server.clusters == [[[0, 1, 2]]]
    server = Server("gcfl", 3, eps1=1.1, eps2=0.1, burn_in=0)
    server.step([[[1.0, 0.0], [1.0, 1.0], [1.0, -1.0]]])
    assert len(server.clusters[0]) == 2


def test_relative_thresholds_wait_for_the_mean_update_to_shrink() -> None:
    server = Server("gcfl", 4, relative=True, eps1=0.25, eps2=1.0, burn_in=0)
    server.step([[[1.0, 0.0]] * 4])  # mean update 1 long
    server.step([[[1.3, 0.0], [-0.8, 0.1], [1.3, 0.0], [-0.8, 0.1]]])  # mean 0.255 long
    assert server.clusters == [[[0, 1, 2, 3]]]
    server.step([[[0.9, 0.0], [-0.8, 0.1], [0.9, 0.0], [-0.8, 0.1]]])  # mean short enough, members too
    assert server.clusters == [[[0, 1, 2, 3]]]
    server.step([[[1.1, 0.0], [-0.8, 0.1], [1.1, 0.0], [-0.8, 0.1]]])
    assert server.clusters == [[[0, 2], [1, 3]]]


def test_pairs_stay_together_and_clusters_never_merge() -> None:
    server = Server("gcfl", 4, **EAGER | {"burn_in": 0})
    server.step(OPPOSED)
    server.step([[[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]]])
    assert server.clusters == [[[0, 2], [1, 3]]]


def test_members_are_weighed_by_size_within_their_cluster() -> None:
    weights = Server("gcfl", 4, burn_in=0, weights="train_nodes").step(OPPOSED)  # 1, 2, 3, 4 training nodes
    assert weights[0, 0].tolist() == [0.25, 0, 0.75, 0]
    assert weights[0, 1].tolist() == pytest.approx([0, 1 / 3, 0, 2 / 3])


def test_seeds_have_their_own_clusters() -> None:
    agreed = [[[1.0, 0.0]] * 4]
    server = Server("gcfl", 4, seeds=2, burn_in=0)
    weights = server.step(agreed + OPPOSED)
    assert server.clusters == [[[0, 1, 2, 3]], [[0, 2], [1, 3]]]
    assert weights[0].tolist() == [[0.25] * 4] * 4


def test_a_zero_update_is_at_right_angles_to_all() -> None:
    server = Server("gcfl", 3, **EAGER | {"burn_in": 0})
    server.step([[[0.0, 0.0], [1.0, 0.0], [1.0, 0.1]]])
    assert server.clusters == [[[0], [1, 2]]]


def test_series_that_move_alike_stay_together() -> None:
    """Client 2 rises where 0 and 1 fall; the updates all agree, so GCFL would have cut elsewhere or nowhere."""
    server = Server("gcfl_plus", 3, window=3, **EAGER | {"burn_in": 0})
    for norms in ([4.0, 5.0, 1.0], [3.0, 4.0, 2.0], [2.0, 3.0, 9.0]):
        assert server.clusters == [[[0, 1, 2]]]
        server.step([[[1.0, 0.0]] * 3], [norms])
    assert server.clusters == [[[0, 1], [2]]]


def test_a_split_empties_all_series_and_only_the_last_rounds_count() -> None:
    server = Server("gcfl_plus", 6, window=2, **EAGER | {"burn_in": 3})
    first, later = [9.0, 1.0, 9.0, 1.0, 9.0, 1.0], [1.0, 1.0, 1.0, 5.0, 5.0, 5.0]
    for norms in (first, first, later, later):
        server.step([[[1.0, 0.0]] * 6], [norms])
    assert server.clusters == [[[0, 1, 2], [3, 4, 5]]]
    for norms in ([1.0, 1.0, 7.0, 2.0, 2.0, 3.0],) * 2:
        assert server.clusters == [[[0, 1, 2], [3, 4, 5]]]
        server.step([[[1.0, 0.0]] * 6], [norms])
    assert server.clusters == [[[0, 1], [2], [3, 4, 5]]]  # one split a round: the series are empty again
