"""The partition report against figures worked out by hand, pandas and scipy."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy

from fedbench.cli.__main__ import main
from fedbench.datasets.node import NodeDataset
from fedbench.partition.measures import measure, warnings
from fedbench.partition.store import Partition

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture
def columns(grid_file):
    """Write a partition of the 8 x 8 grid: client 0 has column 0 (class 0), client 1 the rest; 0 validates nothing."""
    dataset = NodeDataset.read(grid_file)
    client = (np.arange(64) % 8 > 0).astype(np.int64)
    node = np.argsort(client, kind="stable")
    split = np.where(client[node] == 0, 2 * (node // 8 % 2), node % 3).astype(np.int8)
    meta = {"dataset": "grid", "dataset_digest": dataset.digest, "scheme": "columns", "clients": 2, "seed": 0}
    meta |= {"kept_edges": 104, "cut_edges": 8}
    Partition(client[node], node, split, meta=meta).write(grid_file.parent / "columns-2.npz")
    return grid_file.parent / "columns-2.npz"


def test_measures_by_hand(columns, grid_file):
    found = measure(Partition.read(columns), NodeDataset.read(grid_file))
    assert found.nodes.tolist() == [8, 56]
    assert (found.train[0], found.val[0], found.test[0]) == (4, 0, 4)
    assert found.kept_edges.tolist() == [7, 97]
    assert found.missing_links.tolist() == [8, 8]
    assert found.class_counts.tolist() == [[8, 0, 0], [16, 24, 16]]
    assert found.classes_absent.tolist() == [2, 0]
    np.testing.assert_allclose(found.label_entropy, [0, entropy([16, 24, 16], base=2)], atol=1e-12)
    np.testing.assert_allclose(found.label_distance, [5 / 8, 5 / 56])  # overall shares 3/8, 3/8, 2/8
    assert warnings(found) == ["client 0 has no node of class 1, 2", "client 0 has no val nodes"]


def test_the_command_writes_both_files_and_warns(columns, grid_file, tmp_path, capsys):
    out = ["--csv", str(tmp_path / "r.csv"), "--markdown", str(tmp_path / "r.md")]
    assert main(["partition-report", str(columns), "--dataset-file", str(grid_file), *out]) == 0
    assert "warning: grid/columns-2: client 0 has no val nodes" in capsys.readouterr().err
    table = pd.read_csv(tmp_path / "r.csv")
    assert list(table.columns) == ["dataset", "partition", "client", "measure", "class", "value"]
    wide = table[table["class"].isna()].pivot(index="client", columns="measure", values="value")
    assert (wide.train + wide.val + wide.test == wide.nodes).all()
    assert table[table.measure == "class_count"].value.sum() == 64
    text = (tmp_path / "r.md").read_text()
    assert "104 edges kept, 8 cut (7.1%)" in text
    assert "- Warning: client 0 has no node of class 1, 2." in text
    assert "| 0 | 8 | 4 | 0 | 4 | 7 | 8 | 2 | 0.0000 | 0.6250 | 8 | 0 | 0 |" in text


def test_a_partition_of_another_data_set_file_is_refused(columns, grid_file, cora_file, tmp_path, capsys):
    out = ["--csv", str(tmp_path / "r.csv"), "--markdown", str(tmp_path / "r.md")]
    assert main(["partition-report", str(columns), "--dataset-file", str(cora_file), *out]) == 1
    assert "run `fedbench partition` again" in capsys.readouterr().err
    assert not (tmp_path / "r.csv").exists()


def test_the_partition_command(grid_file, tmp_path, capsys):
    options = ["--dataset-file", str(grid_file), "--configs", str(CONFIGS)]
    assert main(["partition", "grid", "metis-4", "--out", str(tmp_path / "p.npz"), *options]) == 0
    assert "grid/metis-4: 4 clients" in capsys.readouterr().out
    assert main(["partition", "cora", "metis-4", "--out", str(tmp_path / "q.npz"), *options]) == 1
    assert "grid" in capsys.readouterr().err
    assert not (tmp_path / "q.npz").exists()
