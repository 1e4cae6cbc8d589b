"""Item tables that clients share row by row."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedbench.engine.cohort import start_cohort
from fedbench.engine.rows import RowTable
from fedbench.engine.run import describe, run
from fedbench.methods.registry import build
from fedbench.tasks.task import Place
from tests.reference.match import series
from tests.tasks.rec.test_rec_training import training
from tests.tasks.rec.toys import toy_rec

DOUBLE = Place(torch.float64)


def test_a_row_is_averaged_over_the_clients_that_have_it() -> None:
    names = [np.array([0, 2, 5]), np.array([2, 3]), np.array([2, 5])]
    values = [torch.tensor([[[1.0], [2.0], [3.0]]]), torch.tensor([[[10.0], [20.0]]]), torch.tensor([[[60.0], [5.0]]])]
    table = RowTable(names, values)
    table.mix(torch.full((1, 3, 3), 1 / 3))
    assert [v.flatten().tolist() for v in table.values] == [[1.0, 24.0, 4.0], [24.0, 20.0], [24.0, 4.0]]
    assert table.bytes == 4 * (2 + 1 + 2)


def test_any_mixing_matrix_is_scaled_over_the_holders() -> None:
    names, values = [np.array([1]), np.array([0, 1])], [torch.tensor([[[4.0]]]), torch.tensor([[[7.0], [8.0]]])]
    table = RowTable(names, values)
    table.mix(torch.tensor([[[0.25, 0.75], [1.0, 0.0]]]))
    assert [v.flatten().tolist() for v in table.values] == [[7.0], [7.0, 4.0]]


@pytest.mark.parametrize("backbone", ["mf", "lightgcn"])
def test_fedavg_makes_common_items_alike_and_leaves_others(backbone: str) -> None:
    problem, chosen = toy_rec(shared=7), training(model={"backbone": backbone}, rounds=1)
    method = build("fedavg", {}, chosen)
    outcome = run(method, problem, (0,), DOUBLE)
    assert outcome.bytes_up == outcome.bytes_down == 3 * 7 * 8 * 4
    cohort = start_cohort(describe(problem, method, (0,), DOUBLE), method, problem, [problem.client_data])
    table = cohort.rows["item.weight"]
    starts = [dict(zip(n.tolist(), v[0], strict=True)) for n, v in zip(table.names, table.values, strict=True)]
    assert all(torch.equal(starts[0][i], starts[k][i]) for i in range(7) for k in (1, 2))
    assert not torch.equal(starts[0][0], starts[0][1])
    alone = run(build("local", {}, chosen), problem, (0,), DOUBLE)
    assert alone.bytes_up == 0


def test_centralised_training_is_that_of_one_client_with_everything() -> None:
    problem, chosen = toy_rec(), training()
    whole = toy_rec(clients=1)
    alone = run(build("local", {}, chosen), whole, (1,), DOUBLE)
    pooled = run(build("centralised", {}, chosen), problem, (1,), DOUBLE)
    for history in (alone.history, pooled.history):
        assert len(series(history, "train", "loss")) == 2
    assert np.allclose(series(pooled.history, "train", "loss"), series(alone.history, "train", "loss"), atol=1e-12)
    assert series(pooled.history, "test", "ndcg@20").shape == (2, 3)
