"""Partitions of small data sets from end to end: files, invariants, measures, and no leak of held-out pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rec_support import CONFIGS, at_random, blocks, dataset, pair_sets, rng, spectral

from fedbench.datasets.rec.raw import TEST, TRAIN, VAL
from fedbench.datasets.rec.store import RecDataset
from fedbench.errors import ConfigurationError, DataError
from fedbench.partition.name import PartitionName
from fedbench.partition.rec.build import build_rec_partition, partition_of
from fedbench.partition.rec.check import check_rec_partition
from fedbench.partition.rec.kinds import CoLouvainScheme
from fedbench.partition.rec.measures import measure_rec, rec_warnings
from fedbench.partition.rec.report import rec_csv_text, rec_markdown_text
from fedbench.partition.rec.store import RecPartition
from fedbench.partition.rec.view import client_pairs
from fedbench.partition.scheme import load_scheme

ALL = {path.stem: load_scheme(path.stem, CONFIGS) for path in sorted((CONFIGS / "partitions").glob("*.yaml"))}
EVERY = {name: scheme.model_copy(update={"groups": None}) for name, scheme in ALL.items() if scheme.task == "rec"}


def louvain(**more) -> CoLouvainScheme:
    return CoLouvainScheme(scheme="co-louvain", title="t", source="s", items="disjoint", **more)


def cut(scheme, data: RecDataset, clients: int = 3, seed: int = 0) -> RecPartition:
    return partition_of(PartitionName("p", clients, seed), scheme, data)


@pytest.mark.parametrize("name", EVERY)
def test_every_scheme_makes_a_valid_file(name, tmp_path):
    blocks().write(tmp_path / "toy.npz")
    build_rec_partition("toy", PartitionName(name, 3), EVERY[name], tmp_path / "toy.npz", tmp_path / "p.npz")
    found = RecPartition.read(tmp_path / "p.npz")
    data = blocks()
    check_rec_partition(found, data, disjoint=EVERY[name].items == "disjoint")
    assert {a.dtype for a in (found.client, found.user, found.item_client, found.item)} == {np.dtype(np.int64)}
    assert np.array_equal(np.sort(found.user), np.arange(data.n_users))
    assert found.meta["kept_edges"] + found.meta["cut_edges"] == data.meta["pairs"]["train"]
    assert (found.meta["cut_edges"] == 0) == (EVERY[name].items == "by_user")


@pytest.mark.parametrize("name", EVERY)
def test_the_same_seed_gives_the_same_bytes(name, tmp_path):
    blocks().write(tmp_path / "toy.npz")
    for out in ("one", "two"):
        build_rec_partition("toy", PartitionName(name, 3), EVERY[name], tmp_path / "toy.npz", tmp_path / f"{out}.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


@pytest.mark.parametrize("items", ["disjoint", "by_user"])
@settings(deadline=None)
@given(pairs=pair_sets(12, 12), swap=st.randoms(use_true_random=False), method=st.sampled_from([spectral, at_random]))
def test_held_out_pairs_have_no_say(items, pairs, swap, method):
    """Whatever validates or tests, the clients are the same; and no client trains on it."""
    train = [pair for place, pair in enumerate(pairs) if place % 3 == 0]
    train += [(user, user) for user in range(12) if user not in {u for u, _ in train}]
    other = sorted({(u, i) for u in range(12) for i in range(12)} - set(train))
    swap.shuffle(other)
    with_some = dataset(train, test=other[:20], val=other[20:30], users=12, items=12)
    without = dataset(train, users=12, items=12)
    one, two = (cut(method(items), data, 2) for data in (with_some, without))
    for array in ("client", "user", "item_client", "item"):
        assert np.array_equal(getattr(one, array), getattr(two, array))
    for client in range(2):
        mine = client_pairs(one, with_some, client)
        edges = set(zip(mine.users[mine.train[0]].tolist(), mine.items[mine.train[1]].tolist(), strict=True))
        assert edges <= set(train)
        assert edges.isdisjoint(other[:30])


def test_the_pairs_of_a_client_by_a_plain_loop():
    data = blocks()
    found = cut(spectral(), data)
    client_of = dict(zip(found.user.tolist(), found.client.tolist(), strict=True))
    has = set(zip(found.item_client.tolist(), found.item.tolist(), strict=True))
    for client in range(3):
        mine = client_pairs(found, data, client)
        for split, places in ((TRAIN, mine.train), (VAL, mine.val), (TEST, mine.test)):
            seen = list(zip(mine.users[places[0]].tolist(), mine.items[places[1]].tolist(), strict=True))
            rows = zip(data.users.tolist(), data.items.tolist(), data.split.tolist(), strict=True)
            wanted = [(u, i) for u, i, s in rows if s == split and client_of[u] == client and (client, i) in has]
            assert seen == wanted
    assert sum(client_pairs(found, data, client).train.shape[1] for client in range(3)) == found.meta["kept_edges"]


def toy() -> tuple[RecPartition, RecDataset]:
    """Return clients {users 0, 1; items 0, 1, 3} and {user 2; items 1, 2}, item 1 shared."""
    train, val, test = [(0, 0), (0, 1), (1, 2), (2, 1), (2, 2)], [(1, 0), (0, 2)], [(1, 1), (2, 0), (2, 3)]
    data = dataset([*train, (1, 3)], test, val)
    meta = {"dataset": "toy", "clients": 2, "settings": {"items": "by_user"}, "group": ["Large", "Small"]}
    meta |= {"kept_edges": 5, "cut_edges": 1, "shared_items": 1, "val_outside": 0.5, "test_outside": 2 / 3}
    arrays = ([0, 0, 1], [0, 1, 2], [0, 0, 0, 1, 1], [0, 1, 3, 1, 2])
    return RecPartition(*(np.array(values) for values in arrays), meta=meta), data


BY_HAND = {
    "users": [2, 1],
    "items": [3, 2],
    "train": [3, 2],
    "val": [1, 0],
    "test": [1, 0],
    "train_outside": [1, 0],
    "val_outside": [1, 0],
    "test_outside": [0, 2],
    "shared_items": [1, 1],
    "lone_users": [0, 0],
    "lone_items": [0, 0],
    "test_users": [1, 0],
    "density": [0.5, 1.0],
    "item_degree": [1.0, 1.0],
}


def test_measures_by_hand():
    found = measure_rec(*toy()).columns()
    assert {name: values.tolist() for name, values in found.items()} == BY_HAND


def test_lone_users_and_items_by_hand():
    partition, data = toy()
    moved = RecPartition(
        partition.client, partition.user, np.array([0, 1, 1, 1]), np.array([2, 0, 1, 3]), meta=partition.meta
    )
    found = measure_rec(moved, data)
    assert (found.lone_users.tolist(), found.lone_items.tolist()) == ([1, 0], [0, 2])
    assert rec_warnings(found) == ["client 0 has no test pairs", "client 0: 1 of 2 users keep no training pair"]


def test_the_reports_say_what_was_measured():
    partition, data = toy()
    measures = measure_rec(partition, data)
    rows = [line.split(",") for line in rec_csv_text("p", partition, measures).splitlines()]
    assert rows[0] == ["dataset", "partition", "client", "group", "measure", "value"]
    assert len(rows) == 1 + 2 * len(BY_HAND)
    assert ["toy", "p", "0", "Large", "density", "0.5"] in rows
    text = rec_markdown_text("p", partition, measures)
    assert "5 training pairs kept, 1 cut (16.7%); 66.7% of the test pairs and 50.0%" in text
    assert "4 items in clients, 1 of them in several" in text
    assert "| 1 | Small | 1 | 2 | 2 | 0 | 0 | 0 | 0 | 2 | 1 | 0 | 0 | 0 | 1 | 1 |" in text
    assert "- Warning: client 1 has no test pairs." in text


def test_the_description_says_what_the_measures_say():
    data = blocks()
    found = cut(spectral("by_user"), data)
    measures = measure_rec(found, data)
    assert found.meta["train"] == measures.train.tolist()
    assert found.meta["density"] == measures.density.tolist()
    test = int((data.split == TEST).sum())
    assert found.meta["test_outside"] == pytest.approx(measures.test_outside.sum() / test)
    times = np.bincount(found.item)
    assert found.meta["shared_items"] == (times > 1).sum()


def test_groups_by_descending_pairs():
    scheme = spectral(groups={"names": ("Large", "Small"), "sizes": (1, 2)})
    assert cut(scheme, blocks()).meta["group"] == ["Large", "Small", "Small"]
    assert cut(scheme, blocks()).meta["train"] == sorted(cut(scheme, blocks()).meta["train"], reverse=True)
    with pytest.raises(DataError, match="ask for 3 clients"):
        cut(scheme, blocks(), 4)


def test_the_released_random_cut_keeps_one_pair_in_four():
    """Binomial with p = 1/4 and some 11,000 pairs: four standard deviations are 1.7 points."""
    data = dataset(np.argwhere(rng(3).random((150, 150)) < 0.5).tolist())
    found = cut(at_random(), data, 4)
    share = found.meta["kept_edges"] / data.users.size
    assert abs(share - 0.25) < 0.017
    sizes = np.bincount(found.client)
    assert sizes.max() - sizes.min() <= 1


def test_random_seeds_differ_and_spectral_ones_agree_on_planted_groups():
    data = blocks()
    assert not np.array_equal(
        cut(at_random(), data).client, cut(at_random(), data, seed=1).client
    ) or not np.array_equal(cut(at_random(), data).user, cut(at_random(), data, seed=1).user)
    one, two = (cut(spectral(), data, seed=seed) for seed in (0, 1))
    assert np.array_equal(one.user, two.user)
    assert np.array_equal(one.item, two.item)


def test_louvain_finds_planted_groups_and_packs_them_whole():
    data = blocks(60, 80, 6, inside=0.9, outside=0.01)
    found = cut(louvain(), data, 3)
    client = np.empty(60, dtype=np.int64)
    client[found.user] = found.client
    assert all(np.unique(client[np.arange(60) % 6 == group]).size == 1 for group in range(6))
    assert np.bincount(client).tolist() == [20, 20, 20]


def test_too_few_communities_are_refused():
    with pytest.raises(DataError, match="raise the scheme's resolution"):
        cut(louvain(), blocks(), 20)


def test_one_client_has_all():
    found = cut(spectral(), blocks(), 1)
    assert found.meta["cut_edges"] == 0
    assert found.meta["users"] == [30]


def test_more_clients_than_users_are_refused():
    with pytest.raises(DataError, match="1 to 30 clients"):
        cut(spectral(), blocks(), 31)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"user": [0, 1, 1]}, "a user in no client, or in several"),
        ({"client": [0, 1, 0]}, "users out of order"),
        ({"client": [0, 0, 2]}, "out of range"),
        ({"item": [0, 3, 1, 1, 2]}, "items out of order"),
        ({"item_client": [0, 0, 0, 0, 0], "item": [0, 1, 2, 3, 4]}, "items that no training pair has"),
        ({"item_client": [0, 0, 0, 0], "item": [0, 1, 2, 3]}, "client 1 without users or items"),
    ],
)
def test_each_broken_invariant_is_named(change, message):
    partition, data = toy()
    values = {name: getattr(partition, name) for name in ("client", "user", "item_client", "item")}
    values |= {name: np.array(value) for name, value in change.items()}
    with pytest.raises(DataError, match=message):
        check_rec_partition(RecPartition(**values, meta=partition.meta), data, disjoint=False)


def test_a_shared_item_breaks_a_disjoint_cut():
    partition, data = toy()
    check_rec_partition(partition, data, disjoint=False)
    with pytest.raises(DataError, match="an item in several clients"):
        check_rec_partition(partition, data, disjoint=True)


def test_a_partition_of_another_data_set_is_refused(tmp_path):
    blocks().write(tmp_path / "toy.npz")
    with pytest.raises(DataError, match="holds toy"):
        build_rec_partition("gowalla", PartitionName("p", 3), spectral(), tmp_path / "toy.npz", tmp_path / "p.npz")


def test_a_misspelt_scheme_gets_a_suggestion():
    with pytest.raises(ConfigurationError, match="did you mean 'co-cluster'"):
        load_scheme("co-clusters", CONFIGS)
