"""Raw user-item files to a data set file: check, load, number, split, write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets.counts import check_counts
from fedbench.datasets.origin import origin_path
from fedbench.datasets.rec import ngcf, table
from fedbench.datasets.rec.order import numbered
from fedbench.datasets.rec.origin import rec_origin_of, write_rec_origin
from fedbench.datasets.rec.raw import TEST, Numbered, RawPairs
from fedbench.datasets.rec.split import pool, split_of, without_held_back
from fedbench.datasets.rec.store import RecDataset, pair_counts
from fedbench.datasets.wanted import loader_of
from fedbench.sources.kinds import Source
from fedbench.sources.rec_entry import Order, RecDatasetFile, RecSplitFile
from fedbench.sources.rec_split import LpsfedSplit, OfficialSplit

LOADERS: dict[str, Callable[[Path, Any], RawPairs]] = {"ngcf": ngcf.load, "table": table.load}


def build_rec(
    name: str, file: RecDatasetFile, resplit: RecSplitFile | None, source: Source, raw_folder: Path, out: Path
) -> RecDataset:
    """Write the data set file ``out`` and ``<out>.origin.npz`` from checked raw files, and return the data set.

    Raises:
        DataError: a file can't be read, or a count differs from the catalogue's.
    """
    raw, said = load_pairs(source, raw_folder), resplit or file
    check_counts(f"the raw pairs of {file.title}", raw_counts(raw), file.raw.model_dump())
    dataset, pairs = split_pairs(name, raw, file.order, said.split)
    found = {"users": dataset.n_users, "items": dataset.n_items, **dataset.meta["pairs"]}
    check_counts(f"the data set {said.title}", found, said.counts.model_dump(exclude_none=True))
    write_rec_origin(origin_path(out), rec_origin_of(name, source, pairs))
    dataset.write(out)
    return dataset


def load_pairs(source: Source, folder: Path) -> RawPairs:
    """Return the pairs from a source's files, which have been checked.

    Raises:
        DataError: a file can't be read.
        SourceError: the source names no loader of pairs.
    """
    loader = loader_of(source, LOADERS)
    return LOADERS[loader.format](folder, loader)


def split_pairs(
    name: str, raw: RawPairs, order: Order, split: OfficialSplit | LpsfedSplit
) -> tuple[RecDataset, Numbered]:
    """Return the data set of raw pairs under a split, and the numbered pairs it was made of.

    Raises:
        DataError: the split needs test pairs that the raw files don't give.
    """
    pairs = without_held_back(numbered(pool(raw, split), order), split, order)
    held = split_of(pairs, split, raw.has_test)
    place = np.lexsort((pairs.items, pairs.users))
    meta = {
        "dataset": name,
        "task": "rec",
        "users": pairs.user_id.size,
        "items": pairs.item_id.size,
        "pairs": pair_counts(held),
        "order": order,
        "split": split.model_dump(mode="json"),
    }
    return RecDataset(pairs.users[place], pairs.items[place], held[place], meta=meta), pairs


def raw_counts(raw: RawPairs) -> dict[str, int]:
    """Return the users, items, train and test pairs of raw files."""
    test = int((raw.given == TEST).sum())
    users, items = np.unique(raw.users).size, np.unique(raw.items).size
    return {"users": users, "items": items, "train": raw.users.size - test, "test": test}
