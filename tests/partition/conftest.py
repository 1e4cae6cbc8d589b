"""Small data sets made on the spot, and Cora's files from the mirror."""

import os
from pathlib import Path

import numpy as np
import pytest

from fedbench.datasets.node import NodeDataset, write_dataset
from fedbench.datasets.origin import Origin, origin_path, write_origin

CONFIGS = Path(__file__).parents[2] / "configs"


def grid(side: int) -> NodeDataset:
    """Return a square grid of side * side nodes, class = column modulo 3, no features set."""
    number = np.arange(side * side).reshape(side, side)
    across, down = (number[:, :-1], number[:, 1:]), (number[:-1], number[1:])
    half = np.concatenate([[end.ravel() for end in across], [end.ravel() for end in down]], axis=1)
    edges = np.concatenate([half, half[::-1]], axis=1)
    edges = edges[:, np.lexsort((edges[1], edges[0]))]
    nodes = side * side
    meta = {"dataset": "grid", "task": "node", "nodes": nodes, "edges": half.shape[1], "features": 2, "classes": 3}
    empty = {"x_indices": np.zeros(0, np.int32), "x_data": np.zeros(0, np.float32), "x_shape": np.array([nodes, 2])}
    y = np.tile(np.arange(side) % 3, side)
    return NodeDataset(
        x_indptr=np.zeros(nodes + 1, np.int64), **empty, edges=edges, y=y, node_id=np.arange(nodes), meta=meta
    )


@pytest.fixture
def grid_file(tmp_path) -> Path:
    """Write an 8 x 8 grid and its origin."""
    path = tmp_path / "grid.npz"
    write_dataset(path, grid(8))
    meta = {"dataset": "grid", "source": "mirror", "format": "planetoid"}
    write_origin(origin_path(path), Origin(np.arange(64)[::-1].copy(), meta))
    return path


@pytest.fixture(scope="session")
def cora_file(tmp_path_factory) -> Path:
    """Build Cora from the mirror, or skip."""
    from fedbench.datasets.build import build_dataset
    from fedbench.sources.catalogue import load_entry
    from fedbench.sources.fetch import fetch

    if not os.environ.get("FEDBENCH_MIRROR"):
        pytest.skip("FEDBENCH_MIRROR is not set: cora and its published partition left out")
    folder, entry = tmp_path_factory.mktemp("cora"), load_entry("cora", CONFIGS)
    fetch("cora", entry.dataset.sources[:1], folder / "raw")
    build_dataset(entry, folder / "raw", folder / "cora.npz")
    return folder / "cora.npz"
