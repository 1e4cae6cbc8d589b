"""Small user-item data sets made on the spot, catalogue entries, and raw files from one named source."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from fedbench.datasets.rec.build import split_pairs
from fedbench.datasets.rec.raw import RawPairs, raw_pairs
from fedbench.datasets.rec.store import RecDataset, pair_counts
from fedbench.errors import SourceError
from fedbench.partition.rec.kinds import CoClusterScheme, CoRandomScheme
from fedbench.sources.catalogue import Entry, load_entry
from fedbench.sources.fetch import fetch
from fedbench.sources.rec_split import LpsfedSplit, OfficialSplit

CONFIGS = Path(__file__).parents[2] / "configs"
OFFICIAL, NINE_TO_ONE = OfficialSplit(name="lightgcn_official"), LpsfedSplit(name="lpsfed_9_1")


def rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def raw(train, test=(), has_test=None) -> RawPairs:
    train, test = (np.array(list(pairs), dtype=np.int64).reshape(-1, 2) for pairs in (train, test))
    return raw_pairs(train, test, has_test=bool(len(test)) if has_test is None else has_test)


def dataset(train, test=(), val=(), users=None, items=None) -> RecDataset:
    """Return a data set of pairs (user, item), numbers as they are."""
    rows = sorted([(u, i, s) for s, pairs in enumerate((train, val, test)) for u, i in pairs])
    user, item, split = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    split = split.astype(np.int8)
    counts = {"users": users or int(user.max()) + 1, "items": items or int(item.max()) + 1}
    return RecDataset(user, item, split, meta={"dataset": "toy", "task": "rec", **counts, "pairs": pair_counts(split)})


def blocks(users: int = 30, items: int = 40, groups: int = 3, inside: float = 0.6, outside: float = 0.03) -> RecDataset:
    """Return a data set in which user u and item i of the same u mod groups, i mod groups meet often."""
    same = np.add.outer(np.arange(users), -np.arange(items)) % groups == 0
    met = rng(7).random((users, items)) < np.where(same, inside, outside)
    pairs = np.argwhere(met).tolist()
    return dataset(pairs[::2] + pairs[1::4], test=pairs[3::4])


def spectral(items: str = "disjoint", method: str = "rownorm", **more) -> CoClusterScheme:
    values = {"regularise": 1.0 if method == "rownorm" else 0.0, **more}
    return CoClusterScheme(scheme="co-cluster", title="t", source="s", items=items, method=method, **values)


def at_random(items: str = "disjoint", **more) -> CoRandomScheme:
    return CoRandomScheme(scheme="co-random", title="t", source="s", items=items, **more)


@st.composite
def pair_sets(draw, users: int = 8, items: int = 9) -> list[tuple[int, int]]:
    """Return different pairs, at least one of each user, in any order."""
    of_user = st.lists(st.integers(0, items - 1), min_size=1, max_size=items, unique=True)
    return [(user, item) for user in range(users) for item in draw(of_user)]


def entry_of(name: str) -> Entry:
    return load_entry(name, CONFIGS)


def fetched(name: str, source_name: str, folder: Path) -> Path:
    """Fetch from one named source; skip the test, naming what is left out, where it can't be had."""
    if source_name == "mirror" and not os.environ.get("FEDBENCH_MIRROR"):
        pytest.skip(f"FEDBENCH_MIRROR is not set: {name} from the mirror left out")
    sources = [source for source in entry_of(name).dataset.sources if source.name == source_name]
    try:
        fetch(name, sources, folder)
    except SourceError as error:
        if source_name == "mirror":
            raise
        pytest.skip(f"{name} from {source_name} left out: {error}")
    return folder


def split_of(pairs: RawPairs, split, order: str = "official") -> RecDataset:
    return split_pairs("toy", pairs, order, split)[0]
