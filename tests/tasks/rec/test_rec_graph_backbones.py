"""PinSage and LCFN against dense programs, and what their graphs and bases are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe
from fedbench.kernels.hypergraph import hypergraph_bases
from fedbench.kernels.visits import important_neighbours
from fedbench.methods.registry import build
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.rec.task import NETWORKS
from fedbench.tasks.task import Place
from tests.tasks.rec.plain_vectors import VECTORS, hypergraph_basis
from tests.tasks.rec.test_rec_training import training
from tests.tasks.rec.toys import one_client, toy_rec
from tests.tasks.rec.vectors_support import assert_loss_and_gradient

DOUBLE, WIDTH, F_U, F_I = Place(torch.float64), 8, 7, 4
CPU = torch.device("cpu")
Tables = dict[str, Tensor]
EMBEDDING = {"pinsage": {"neighbours": 3, "walks": 20, "hidden": 2}, "lcfn": {"users": F_U, "items": F_I}}


PLAIN = ("pinsage", "lcfn")


def settings_of(backbone: str, head: bool = False) -> Any:
    embedding = EMBEDDING | {"pinsage": EMBEDDING["pinsage"] | {"head": head}}
    return training(model={"backbone": backbone, "layers": 2, "embedding": embedding})


def drawn(backbone: str, block: RecBlock, head: bool = False) -> tuple[Any, Tables]:
    client, generator = block.clients[0], torch.Generator().manual_seed(1)
    network = NETWORKS[backbone](client.users, client.items, settings_of(backbone, head).model)
    shapes = {name: (len(block.clients), *p.shape) for name, p in network.parameters().items()}
    return network, {
        n: torch.randn(*s, generator=generator, dtype=torch.float64).requires_grad_() for n, s in shapes.items()
    }


@pytest.mark.parametrize(("backbone", "head"), [("pinsage", False), ("pinsage", True), ("lcfn", False)])
def test_vectors_loss_and_gradient_are_those_of_the_formulas(backbone: str, head: bool) -> None:
    block = RecBlock([toy_rec().client_data[1]], DOUBLE)
    network, parameters = drawn(backbone, block, head)
    users, items = network.tables(parameters, block)
    plain = VECTORS[backbone](block.clients[0], network.model)({name: value[0] for name, value in parameters.items()})
    assert torch.allclose(torch.cat([users[0], items[0]]), plain, atol=1e-6)
    assert_loss_and_gradient(network, parameters, block, plain)


@pytest.mark.parametrize("backbone", PLAIN)
def test_clients_in_one_block_have_their_own_vectors(backbone: str) -> None:
    clients = toy_rec(shared=0).client_data
    both = RecBlock(clients[:2], DOUBLE)
    network, parameters = drawn(backbone, both)
    together = network.tables(parameters, both)
    for k in range(2):
        own = {name: value[k : k + 1] for name, value in parameters.items()}
        alone = network.tables(own, RecBlock([clients[k]], DOUBLE))
        assert all(torch.allclose(t[k], a[0], atol=1e-6) for t, a in zip(together, alone, strict=True))


@pytest.mark.parametrize(
    ("backbone", "names"),
    [
        ("pinsage", {f"layer{n}.{p}.{w}" for n in (1, 2) for p in ("near", "both") for w in ("weight", "bias")}),
        ("lcfn", {f"layer{n}.{p}.weight" for n in (1, 2) for p in ("users", "items", "both")}),
    ],
)
def test_fedavg_shares_what_is_no_table(backbone: str, names: set[str]) -> None:
    problem = toy_rec(shared=0)
    method = build("fedavg", {}, settings_of(backbone))
    cohort = start_cohort(describe(problem, method, (0,), DOUBLE), method, problem, [problem.client_data])
    assert set(cohort.shared) == names


def test_both_bases_come_from_one_decomposition() -> None:
    taken = toy_rec().client_data[2].taken
    found = hypergraph_bases([taken], F_U, F_I, torch.float64, CPU)
    h = taken.toarray().astype(float)
    for basis, dense in ((found.users[0], hypergraph_basis(h, F_U)), (found.items[0], hypergraph_basis(h.T, F_I))):
        assert torch.allclose(basis @ basis.T, dense @ dense.T, atol=1e-5)


def test_a_small_client_has_fewer_frequencies() -> None:
    taken = one_client(np.array([[0, 0], [1, 1], [1, 2]]), 2, 3).taken
    found = hypergraph_bases([taken], 5, 4, torch.float64, CPU)
    assert (found.users.shape, found.items.shape) == ((1, 2, 5), (1, 3, 4))
    assert found.users[0, :, 2:].abs().max() == found.items[0, :, 2:].abs().max() == 0


def visits_of(taken: Any, walks: int, steps: int, neighbours: int, seed: int = 0) -> np.ndarray:
    return important_neighbours(taken, walks, steps, neighbours, np.random.default_rng(seed)).toarray()


def test_importance_is_the_share_of_visits() -> None:
    """Users 0, 1 and items 2, 3; user 1 took item 2 only. Visits of two steps are known in the mean."""
    taken = one_client(np.array([[0, 0], [0, 1], [1, 0]]), 2, 2).taken
    step = np.array([[0, 0, 1 / 2, 1 / 2], [0, 0, 1, 0], [1 / 2, 1 / 2, 0, 0], [1, 0, 0, 0]])
    expected = step + step @ step
    np.fill_diagonal(expected, 0)
    found = visits_of(taken, 40_000, 2, 4)
    assert np.allclose(found, expected / expected.sum(1, keepdims=True), atol=0.01)


def test_only_the_most_visited_stay() -> None:
    taken = toy_rec().client_data[0].taken
    every, few = visits_of(taken, 30, 4, 10_000), visits_of(taken, 30, 4, 3)
    assert ((few > 0).sum(1) == 3).all() and np.allclose(few.sum(1), 1) and np.diag(every).max() == 0
    least_kept = np.where(few > 0, every, np.inf).min(1)
    assert (least_kept >= np.where(few > 0, 0, every).max(1)).all()
    assert not np.array_equal(every, visits_of(taken, 30, 4, 10_000, seed=1))


def test_a_node_without_pairs_has_no_neighbours() -> None:
    taken = one_client(np.array([[0, 0]]), 2, 2).taken
    assert visits_of(taken, 5, 3, 2).sum(1).tolist() == [1, 0, 1, 0]
