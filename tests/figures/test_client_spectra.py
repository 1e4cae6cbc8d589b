"""Clients' spectra: the numbers drawn are those of dense Laplacians, one style a group."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fedbench.datasets.rec.store import write_rec_dataset
from fedbench.figures import client_spectra
from fedbench.partition.rec.store import RecPartition, write_rec_partition
from tests.tasks.rec.toys import one_client, toy_rec


@pytest.fixture
def scene(tmp_path: Path):
    problem = toy_rec()
    (tmp_path / "datasets").mkdir()
    (tmp_path / "partitions" / "toy").mkdir(parents=True)
    write_rec_dataset(tmp_path / "datasets" / "toy.npz", problem.dataset)
    for name, groups in (("grouped-3", ["large", "small", "small"]), ("plain-3", None)):
        arrays = {key: getattr(problem.partition, key) for key in ("client", "user", "item_client", "item")}
        partition = RecPartition(**arrays, meta=problem.partition.meta | {"group": groups})
        write_rec_partition(tmp_path / "partitions" / "toy" / f"{name}.npz", partition)
    return SimpleNamespace(
        results=tmp_path, table=SimpleNamespace(datasets=["toy"], partitions=["grouped-3", "plain-3"])
    )


def test_lines_are_the_lowest_eigenvalues_of_training_pairs(scene):
    grouped, plain = client_spectra.draw(scene).axes
    for line, other, client in zip(grouped.get_lines(), plain.get_lines(), toy_rec().client_data, strict=True):
        taken = client.taken.toarray()
        scaled = taken / np.sqrt(np.outer(taken.sum(1), taken.sum(0)).clip(1))
        expected = 1 - np.linalg.svd(scaled)[1]
        np.testing.assert_allclose(line.get_ydata(), expected[expected < 1 - 1e-6], atol=1e-5)
        np.testing.assert_allclose(line.get_ydata(), other.get_ydata())


def test_clients_of_a_group_look_alike(scene):
    figure = client_spectra.draw(scene)
    colours = [line.get_color() for line in figure.axes[0].get_lines()]
    assert colours[1] == colours[2] != colours[0]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["large", "small", "client 0", "client 1", "client 2"]


def test_a_client_without_pairs_has_no_line():
    assert client_spectra.eigenvalues(one_client(np.empty((0, 2), dtype=np.int64), 2, 3)).size == 0
