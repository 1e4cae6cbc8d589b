"""Losses, gradients and steps against PyG's LightGCN and plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import LightGCN as PlainLightGCN

from fedbench.configuration.protocol import ModelSettings, RankingSettings, TrainingSettings
from fedbench.engine.run import run
from fedbench.methods.registry import build
from fedbench.models.vectors import ITEMS, USERS
from fedbench.tasks.rec.arrays import ClientPairs
from fedbench.tasks.rec.batches import steps
from fedbench.tasks.rec.block import Batch, RecBlock
from fedbench.tasks.rec.negatives import Negatives
from fedbench.tasks.rec.task import NETWORKS
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.tasks.rec.toys import one_client, toy_rec

DOUBLE = Place(torch.float64)


def training(**changes: Any) -> TrainingSettings:
    model = {"backbone": "lightgcn", "layers": 3, "width": 8, "dropout": 0.0} | changes.pop("model", {})
    values = {"task": "rec", "rounds": 2, "batch_size": 16, "learning_rate": 0.01, "weight_decay": 0.0}
    return TrainingSettings.model_validate(values | {"model": model} | changes)


def tables_of(block: RecBlock, width: int, seed: int = 0) -> dict[str, torch.Tensor]:
    generator, (client, *_) = torch.Generator().manual_seed(seed), block.clients
    shapes = {USERS: (len(block.clients), client.users, width), ITEMS: (len(block.clients), client.items, width)}
    return {
        name: torch.randn(*shape, generator=generator, dtype=block.place.dtype).requires_grad_()
        for name, shape in shapes.items()
    }


def a_batch(block: RecBlock, size: int, ranking: RankingSettings) -> Batch:
    chosen = training(batch_size=size, ranking=ranking.model_dump())
    return next(steps(block, chosen, [(0, k) for k in range(len(block.clients))], 1, 0)).block


def equal_weights(layers: int) -> torch.Tensor:
    """PyG's own default is rounded to single precision."""
    return torch.full((layers + 1,), 1 / (layers + 1), dtype=torch.float64)


def of_pyg(batch: Batch, tables: dict[str, torch.Tensor], layers: int, ranking: RankingSettings) -> Any:
    """Return PyG's loss and gradient of the joint table; its penalty has no factor 1/2."""
    (client,) = batch.block.clients
    users, items = (t.detach()[0] for t in tables.values())
    module = PlainLightGCN(client.users + client.items, users.shape[1], layers, equal_weights(layers)).double()
    with torch.no_grad():
        module.embedding.weight.copy_(torch.cat([users, items]))
    pairs = torch.from_numpy(client.train) + torch.tensor([[0], [client.users]])
    edges = torch.cat([pairs, pairs.flip(0)], dim=1)
    user, item = batch.user_rows[batch.user], batch.item_rows[batch.item] + client.users
    ranks = module(edges, torch.cat([torch.stack([user, item[:, place]]) for place in range(2)], dim=1))
    touched = torch.cat([user, item[:, 0], item[:, 1]])
    loss = module.recommendation_loss(*ranks.chunk(2), node_id=touched, lambda_reg=ranking.l2 / 2)
    loss.backward()
    return loss.detach(), module.embedding.weight.grad


def ours(batch: Batch, tables: dict[str, torch.Tensor], backbone: str, layers: int) -> Any:
    model = ModelSettings.model_validate({"backbone": backbone, "layers": max(layers, 1), "width": 8, "dropout": 0.0})
    network = NETWORKS[backbone](batch.block.clients[0].users, batch.block.clients[0].items, model)
    loss = batch.loss(network.forward(tables, batch, None))
    return loss.detach(), torch.cat([g[0] for g in torch.autograd.grad(loss.sum(), list(tables.values()))])


@pytest.mark.parametrize(("backbone", "layers"), [("mf", 0), ("lightgcn", 1), ("lightgcn", 2), ("lightgcn", 3)])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_loss_and_gradient_are_pygs(backbone: str, layers: int, l2: float) -> None:
    block, ranking = RecBlock([toy_rec().client_data[1]], DOUBLE), RankingSettings(l2=l2)
    batch, tables = a_batch(block, 40, ranking), tables_of(block, 8)
    loss, gradient = ours(batch, tables, backbone, layers)
    expected_loss, expected = of_pyg(batch, tables, layers, ranking)
    assert loss.item() == pytest.approx(expected_loss.item(), rel=1e-12)
    assert torch.allclose(gradient, expected, rtol=0, atol=1e-12)
    assert expected.abs().max() > 1e-3


def test_squares_are_left_out_where_no_penalty_reads_them() -> None:
    block = RecBlock([toy_rec().client_data[1]], DOUBLE)
    tables, client = tables_of(block, 8), block.clients[0]
    network = NETWORKS["mf"](client.users, client.items, training().model)
    with_none, some = (a_batch(block, 20, RankingSettings(l2=l2)) for l2 in (0.0, 0.1))
    assert network.forward(tables, with_none, None).squares is None
    assert network.forward(tables, some, None).squares is not None


def test_scores_of_everyone_are_pygs() -> None:
    block = RecBlock([toy_rec().client_data[0]], DOUBLE)
    (client,), tables = block.clients, tables_of(block, 8)
    network = NETWORKS["lightgcn"](client.users, client.items, training().model)
    module = PlainLightGCN(client.users + client.items, 8, 3, equal_weights(3)).double()
    with torch.no_grad():
        module.embedding.weight.copy_(torch.cat([tables[USERS][0], tables[ITEMS][0]]))
    pairs = torch.from_numpy(client.train) + torch.tensor([[0], [client.users]])
    final = module.get_embedding(torch.cat([pairs, pairs.flip(0)], dim=1))
    expected = final[: client.users] @ final[client.users :].T
    with torch.no_grad():
        (scorer,) = network.scorers(tables, block)
        assert torch.allclose(scorer.scores(torch.arange(client.users)), expected, atol=1e-12)


def test_several_negatives_are_averaged() -> None:
    block, ranking = RecBlock([toy_rec().client_data[2]], DOUBLE), RankingSettings(negatives=3, l2=0.2)
    batch, tables = a_batch(block, 10, ranking), tables_of(block, 8)
    users, items, total = tables[USERS][0].detach(), tables[ITEMS][0].detach(), 0.0
    for u, (i, *others) in zip(batch.user_rows[batch.user], batch.item_rows[batch.item], strict=True):
        margins = [torch.dot(users[u], items[i] - items[j]) for j in others]
        total += sum(float(torch.log1p(torch.exp(-m))) for m in margins) / 3
        total += 0.1 * float(users[u].square().sum() + sum(items[j].square().sum() for j in (i, *others)))
    assert ours(batch, tables, "mf", 0)[0].item() == pytest.approx(total / 10, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 8), st.integers(1, 9))
def test_the_nth_item_not_taken(seed: int, users: int, items: int) -> None:
    taken = np.random.default_rng(seed).random((users, items)) < 0.5
    found = Negatives(np.argwhere(taken).T, users, items)
    for user in range(users):
        free = np.flatnonzero(~taken[user])
        assert found.free[user] == len(free)
        assert found.nth(np.full(len(free), user), np.arange(len(free))).tolist() == free.tolist()


def test_negatives_are_drawn_evenly() -> None:
    pairs = np.array([[0, 0, 1], [1, 3, 2]])
    drawn = Negatives(pairs, 2, 6).draw(np.zeros(8000, dtype=np.int64), 1, np.random.default_rng(0))
    counts = np.bincount(drawn.ravel(), minlength=6)
    assert counts[[1, 3]].sum() == 0
    assert np.abs(counts[[0, 2, 4, 5]] - 2000).max() < 5 * np.sqrt(8000 * 0.25 * 0.75)


def visited(client: ClientPairs, member: tuple[int, int], round: int = 1) -> list[tuple[int, int, int]]:
    block = RecBlock([client], DOUBLE)
    return [
        (int(batch.user_rows[u]), *batch.item_rows[row].tolist())
        for batch in (step.block for step in steps(block, training(), [member], round, 0))
        for u, row in zip(batch.user, batch.item, strict=True)
    ]


def test_an_epoch_visits_every_training_pair_once_beside_an_item_not_taken() -> None:
    client = toy_rec().client_data[0]
    taken = set(map(tuple, client.train.T.tolist()))
    found = visited(client, (0, 0))
    assert sorted((u, i) for u, i, _ in found) == sorted(taken)
    assert not any((u, j) in taken for u, _, j in found)
    assert found != visited(client, (1, 0)) and found != visited(client, (0, 1)) and found != visited(client, (0, 0), 2)
    assert found == visited(client, (0, 0))


def test_users_who_took_everything_are_left_out() -> None:
    client = one_client(np.array([[0, 0], [0, 1], [1, 0]]), 2, 2)
    assert visited(client, (0, 0)) == [(1, 0, 1)]


def test_training_lowers_the_loss() -> None:
    losses = series(run(build("local", {}, training(rounds=12)), toy_rec(), (0,), DOUBLE).history, "train", "loss")
    assert (losses.reshape(12, -1)[-1] < losses.reshape(12, -1)[0]).all()


def test_vectors_of_what_one_client_has_never_leave_it() -> None:
    outcome = run(build("fedavg", {}, training()), toy_rec(shared=0), (0,), DOUBLE)
    assert outcome.bytes_up == outcome.bytes_down == 0


def test_settings_of_another_task_are_refused() -> None:
    with pytest.raises(ValueError, match="task 'rec' needs backbone mf or lightgcn"):
        training(model={"backbone": "gcn"})
    with pytest.raises(ValueError, match="ranking and model"):
        TrainingSettings.model_validate({"ranking": {"negatives": 2}})
    with pytest.raises(ValueError, match="no dropout"):
        training(model={"dropout": 0.5})
