"""LGCN and NGCF against their formulas on dense matrices, and what federating them sends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fedbench.configuration.method import load_method_file
from fedbench.configuration.protocol import TASK_BACKBONES, RankingSettings
from fedbench.engine.cohort import start_cohort
from fedbench.engine.run import describe, run
from fedbench.kernels.low_pass import low_pass
from fedbench.methods.registry import build
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.rec.task import NETWORKS
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.tasks.rec.conftest import CONFIGS
from tests.tasks.rec.plain_vectors import VECTORS
from tests.tasks.rec.test_rec_training import a_batch, training
from tests.tasks.rec.toys import one_client, toy_rec
from tests.tasks.rec.vectors_support import assert_loss_and_gradient

DOUBLE, WIDTH, PHI = Place(torch.float64), 8, 6
Tables = dict[str, Tensor]


def adjacency(taken: np.ndarray) -> np.ndarray:
    users, items = taken.shape
    whole = np.block([[np.zeros((users, users)), taken], [taken.T, np.zeros((items, items))]])
    root = np.diag(whole.sum(1).clip(1) ** -0.5)
    return root @ whole @ root


DENSE = ("lgcn", "ngcf")


def settings_of(backbone: str, **changes: Any) -> Any:
    return training(model={"backbone": backbone, "layers": 2, "embedding": {"frequencies": PHI}}, **changes)


def drawn(backbone: str, block: RecBlock) -> tuple[Any, Tables]:
    client, generator = block.clients[0], torch.Generator().manual_seed(1)
    network = NETWORKS[backbone](client.users, client.items, settings_of(backbone).model)
    shapes = {name: (len(block.clients), *p.shape) for name, p in network.parameters().items()}
    return network, {
        n: torch.randn(*s, generator=generator, dtype=torch.float64).requires_grad_() for n, s in shapes.items()
    }


def test_every_backbone_can_be_run_from_a_configuration() -> None:
    """LightGCN is the protocol's; FedAvg on MF is FedMF."""
    found = {
        name: {
            how.training.get("model", {}).get("backbone", "lightgcn")
            for how in load_method_file(name, CONFIGS).variants.values()
        }
        for name in ("local", "fedavg", "fedmf")
    }
    every = set(TASK_BACKBONES["rec"])
    assert every <= found["local"] and every <= found["fedavg"] | found["fedmf"] and "mf" in found["fedmf"]


@pytest.mark.parametrize("backbone", DENSE)
def test_vectors_loss_and_gradient_are_those_of_the_formulas(backbone: str) -> None:
    block = RecBlock([toy_rec().client_data[1]], DOUBLE, PHI)
    (client,) = block.clients
    network, parameters = drawn(backbone, block)
    dense = VECTORS[backbone](client, network.model)({name: value[0] for name, value in parameters.items()})
    users, items = network.tables(parameters, block)
    assert torch.allclose(torch.cat([users[0], items[0]]), dense, atol=1e-6)
    assert_loss_and_gradient(network, parameters, block, dense)


@pytest.mark.parametrize("backbone", DENSE)
def test_clients_in_one_block_have_their_own_vectors(backbone: str) -> None:
    clients = toy_rec(shared=0).client_data
    both = RecBlock(clients[:2], DOUBLE, PHI)
    network, parameters = drawn(backbone, both)
    batch = a_batch(both, 20, RankingSettings())
    together = network.rows(parameters, batch)
    place = 0
    for k in range(2):
        own = {name: value[k : k + 1] for name, value in parameters.items()}
        users, _ = network.tables(own, RecBlock([clients[k]], DOUBLE, PHI))
        rows = batch.user_rows[batch.user_rows // clients[k].users == k] - k * clients[k].users
        assert torch.allclose(together.users[place : place + len(rows)], users[0, rows], atol=1e-6)
        place += len(rows)


def test_the_lowest_frequencies_are_those_of_the_laplacian() -> None:
    client = toy_rec().client_data[2]
    found = low_pass([client.taken], 7, torch.float64, torch.device("cpu"))
    dense = np.eye(client.users + client.items) - adjacency(client.taken.toarray().astype(float))
    basis = torch.cat([found.users[0], found.items[0]])
    assert np.allclose(found.frequencies[0], np.linalg.eigvalsh(dense)[:7], atol=1e-8)
    assert np.allclose(dense @ basis.numpy(), basis.numpy() * found.frequencies[0].numpy(), atol=1e-3)
    assert torch.allclose(basis.T @ basis, torch.eye(7, dtype=torch.float64), atol=1e-6)


def test_a_small_graph_has_fewer_low_frequencies() -> None:
    client = one_client(np.array([[0, 0], [1, 1], [1, 2]]), 2, 3)
    found = low_pass([client.taken], 5, torch.float64, torch.device("cpu"))
    assert np.allclose(found.frequencies[0], [0, 0, 1, 1, 1])
    assert found.users[0, :, 2:].abs().max() == 0


@pytest.mark.parametrize(
    ("backbone", "names", "numbers"),
    [
        ("lgcn", {"kernel1.weight", "kernel2.weight"}, 2 * PHI),
        ("ngcf", {f"layer{k}.{p}.weight" for k in (1, 2) for p in ("first", "second")}, 4 * WIDTH * WIDTH),
    ],
)
def test_fedavg_shares_what_is_no_table(backbone: str, names: set[str], numbers: int) -> None:
    chosen, problem = settings_of(backbone), toy_rec(shared=0)
    method = build("fedavg", {}, chosen)
    cohort = start_cohort(describe(problem, method, (0,), DOUBLE), method, problem, [problem.client_data])
    assert set(cohort.shared) == names
    outcome = run(method, problem, (0,), DOUBLE)
    assert outcome.bytes_up == outcome.bytes_down == 2 * 3 * 4 * numbers  # rounds, clients, bytes
    alone = run(build("local", {}, chosen), problem, (0,), DOUBLE)
    losses = (series(each.history, "train", "loss") for each in (outcome, alone))
    first, second = zip(*losses, strict=True)
    assert np.array_equal(*first)
    assert not np.allclose(*second)
