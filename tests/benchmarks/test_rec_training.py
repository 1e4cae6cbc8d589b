"""The programs that recommendation's speed is compared with compute the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.gowalla_job import agreement
from benchmarks.graphs import Problem
from benchmarks.rec_training import Ours, Theirs, apart, as_csr, joint_adjacency, pyg_light_gcn, written_lgcn
from fedbench.configuration.protocol import TrainingSettings
from fedbench.models.ranking import InnerProduct
from fedbench.tasks.rec.evaluation import rankings
from tests.tasks.rec.toys import toy_rec, write_problem


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    folder: Path = tmp_path_factory.mktemp("toy")
    problem, paths = toy_rec(), Problem(folder / "toy.npz", folder / "parts.npz")
    write_problem(problem, paths.dataset, paths.partition)
    return paths


def ours_with(files: Problem, backbone: str) -> Ours:
    model = {"backbone": backbone, "layers": 2, "width": 8, "dropout": 0.0, "embedding": {"frequencies": 12}}
    values = {"task": "rec", "batch_size": 64, "learning_rate": 1e-3, "weight_decay": 0.0, "model": model}
    return Ours(files, TrainingSettings.model_validate(values))


def test_pyg_and_the_written_formulas_have_our_gradients(files: Problem) -> None:
    light, low = ours_with(files, "lightgcn"), ours_with(files, "lgcn")
    edges, weights = joint_adjacency(light.block)
    csr = as_csr(edges, weights, 90 + 180)
    sides = [(light, pyg_light_gcn(light, 2, form)) for form in ((csr, None), (edges, weights))]
    for ours, theirs in [*sides, (low, written_lgcn(low, 2))]:
        batch = ours.batch()
        (loss, mine), (other_loss, others) = ours.gradients(batch), theirs.gradients(batch)
        assert loss == pytest.approx(other_loss, abs=1e-6)
        assert apart(mine, others) < 1e-5


def test_a_step_moves_both_alike(files: Problem) -> None:
    ours = ours_with(files, "lightgcn")
    theirs: Theirs = pyg_light_gcn(ours, 2, joint_adjacency(ours.block))
    batch = ours.batch()
    ours.batch = lambda: batch  # type: ignore[method-assign]
    ours.step()
    theirs.step(batch)
    mine = torch.cat([table[0] for table in ours.parameters.values()])
    assert torch.allclose(mine, theirs.module.embedding.weight, atol=1e-5)  # type: ignore[union-attr]


def test_wrong_lists_are_counted() -> None:
    client = toy_rec(users=150, items=200, clients=1).client_data[0]
    scorer = InnerProduct(torch.randn(client.users, 4), torch.randn(client.items, 4))
    lists = rankings(scorer, client.queries[0], torch.device("cpu"))["test"]
    assert agreement(client, scorer, lists) == 50
    assert agreement(client, scorer, lists[:, ::-1]) == 0
