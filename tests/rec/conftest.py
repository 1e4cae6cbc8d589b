"""Raw folders and data sets of the catalogue, each fetched and built once."""

from pathlib import Path

import pytest
from rec_support import entry_of, fetched

from fedbench.datasets.build import build_dataset


@pytest.fixture(scope="session")
def raw_folder(tmp_path_factory):
    """Return a function (data set, source) -> folder of raw files, or skip."""
    known: dict[tuple[str, str], Path] = {}

    def folder(name: str, source: str = "mirror") -> Path:
        if (name, source) not in known:
            known[name, source] = fetched(name, source, tmp_path_factory.mktemp("raw") / name)
        return known[name, source]

    return folder


@pytest.fixture(scope="session")
def built(raw_folder, tmp_path_factory):
    """Return a function (data set, source) -> data set file, or skip."""
    known: dict[tuple[str, str], Path] = {}

    def build(name: str, source: str = "mirror") -> Path:
        if (name, source) not in known:
            out = tmp_path_factory.mktemp("built") / f"{name}.npz"
            entry = entry_of(name)
            parent = entry.resplit.split_of if entry.resplit else name
            build_dataset(entry, raw_folder(parent, source), out)
            known[name, source] = out
        return known[name, source]

    return build
