"""LightGCN on real pairs against PyG's, and what partitions say."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch_geometric.nn import LightGCN as PlainLightGCN

from fedbench.datasets.rec.store import RecDataset
from fedbench.engine.run import run
from fedbench.errors import DataError
from fedbench.files import write_arrays
from fedbench.kernels.bipartite import rows_of_mean
from fedbench.methods.registry import build
from fedbench.partition.name import PartitionName
from fedbench.partition.rec.build import partition_of
from fedbench.partition.scheme import load_scheme
from fedbench.tasks.rec.arrays import load_rec
from fedbench.tasks.rec.block import RecBlock
from fedbench.tasks.rec.task import TASK
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.tasks.rec.conftest import CONFIGS
from tests.tasks.rec.test_rec_training import a_batch, training


@pytest.fixture(scope="module")
def four_clients(movielens: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    partition = partition_of(
        PartitionName("co-cluster", 4), load_scheme("co-cluster", CONFIGS), RecDataset.read(movielens)
    )
    out = tmp_path_factory.mktemp("four") / "co-cluster-4.npz"
    partition.write(out)
    return movielens, out


def test_a_step_on_movielens_is_pygs(four_clients: tuple[Path, Path]) -> None:
    """Single precision, the largest client, loss and gradient to 1e-5."""
    client = load_rec(*four_clients).client_data[0]
    block, chosen = RecBlock([client], Place()), training(model={"layers": 3, "width": 64})
    network, batch = TASK.network(load_rec(*four_clients).shapes[0], chosen.model), a_batch(block, 2048, chosen.ranking)
    module = PlainLightGCN(client.users + client.items, 64, 3)
    users, items = module.embedding.weight.detach().split([client.users, client.items])
    tables = {"user.weight": users[None].clone().requires_grad_(), "item.weight": items[None].clone().requires_grad_()}
    loss = batch.loss(network.forward(tables, batch, None))  # type: ignore[arg-type]
    found = torch.cat([gradient[0] for gradient in torch.autograd.grad(loss.sum(), list(tables.values()))])
    pairs = torch.from_numpy(client.train) + torch.tensor([[0], [client.users]])
    user, item = batch.user_rows[batch.user], batch.item_rows[batch.item] + client.users
    asked = torch.cat([torch.stack([user, item[:, place]]) for place in range(2)], dim=1)
    ranks = module(torch.cat([pairs, pairs.flip(0)], dim=1), asked)
    rows = torch.cat([user, item.flatten()])
    expected = module.recommendation_loss(*ranks.chunk(2), node_id=rows, lambda_reg=chosen.ranking.l2 / 2)
    expected.backward()
    wanted = module.embedding.weight.grad
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert (found - wanted).abs().max() < 1e-5 * wanted.abs().max()


def test_movielens_clients_have_what_the_partition_says(four_clients: tuple[Path, Path]) -> None:
    problem = load_rec(*four_clients)
    about = problem.partition.meta
    assert [shape.features for shape in problem.shapes] == about["users"]
    assert [shape.classes for shape in problem.shapes] == about["items"]
    assert problem.train_nodes_per_client.tolist() == about["train"]
    pooled = problem.pooled_data()
    assert (pooled.users, pooled.items, pooled.train.shape[1]) == (943, 1682, 81_797)


def test_a_filter_beats_popularity_on_every_client(four_clients: tuple[Path, Path]) -> None:
    problem, once = load_rec(*four_clients), training(rounds=1)
    popularity, filtered = (
        series(run(build(name, {}, once), problem, (0,), Place()).history, "test", "ndcg@20")[0]
        for name in ("popularity", "gfcf")
    )
    assert (filtered > popularity).all()


def test_a_partition_of_another_data_set_is_refused(four_clients: tuple[Path, Path], tmp_path: Path) -> None:
    problem = load_rec(*four_clients)
    arrays = {name: getattr(problem.partition, name) for name in ("client", "user", "item_client", "item")}
    write_arrays(tmp_path / "p.npz", arrays, problem.partition.meta | {"dataset_digest": "0" * 64})
    with pytest.raises(DataError, match="for the task 'rec', of a file with sha256 0000"):
        load_rec(four_clients[0], tmp_path / "p.npz")


def test_rows_without_layers_are_the_tables() -> None:
    users, items = torch.randn(4, 3), torch.randn(5, 3)
    rows = torch.tensor([1, 3]), torch.tensor([0, 4])
    found = rows_of_mean(None, 0, rows, users, items)
    assert torch.equal(found.users, users[rows[0]]) and torch.equal(found.base_items, items[rows[1]])
