"""Small data sets made on the spot, and Cora's files from the mirror."""

import os
from pathlib import Path

import numpy as np
import pytest
from partition_support import grid

from fedbench.datasets.origin import Origin, origin_path, write_origin

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture
def grid_file(tmp_path) -> Path:
    """Write an 8 x 8 grid and its origin."""
    path = tmp_path / "grid.npz"
    grid(8).write(path)
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
