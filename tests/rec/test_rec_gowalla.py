"""The cuts of Gowalla against figures measured by an independent program (LightGCN's train graph)."""

import numpy as np
import pytest
from rec_support import CONFIGS

from fedbench.datasets.rec.store import RecDataset
from fedbench.partition.name import PartitionName
from fedbench.partition.rec.build import partition_of
from fedbench.partition.rec.measures import measure_rec
from fedbench.partition.scheme import load_scheme

# users per client, share of training pairs kept, share of test pairs inside
CUTS = {
    "co-cluster-4": ([12_382, 8_145, 4_682, 4_649], 0.867, 0.818),
    "co-cluster-15": (None, 0.796, 0.725),
    "dhillon-4": ([21_342, 8_063, 338, 115], 0.989, None),
    "dhillon-groups-15": (None, 0.914, None),
    "co-random-4": (None, 0.2503, None),
}
SHARED = {"co-cluster-by-user-4": (0.57, 1.82), "co-cluster-by-user-15": (0.77, 2.92)}


def cut(text: str, data):
    scheme, clients = text.rsplit("-", 1)
    return partition_of(PartitionName(scheme, int(clients)), load_scheme(scheme, CONFIGS), data)


@pytest.fixture(scope="module")
def gowalla(built):
    return RecDataset.read(built("gowalla"))


@pytest.mark.parametrize("name", CUTS)
def test_kept_pairs_and_sizes(gowalla, name):
    users, kept, inside = CUTS[name]
    found = cut(name, gowalla)
    assert found.meta["kept_edges"] / 810_128 == pytest.approx(kept, abs=0.004)
    if users:
        np.testing.assert_allclose(sorted(found.meta["users"], reverse=True), users, atol=20)
    if inside:
        assert 1 - found.meta["test_outside"] == pytest.approx(inside, abs=0.003)


@pytest.mark.parametrize("name", SHARED)
def test_items_that_clients_share(gowalla, name):
    found, (share, times) = cut(name, gowalla), SHARED[name]
    assert found.meta["shared_items"] / gowalla.n_items == pytest.approx(share, abs=0.01)
    assert found.item.size / gowalla.n_items == pytest.approx(times, abs=0.02)
    assert found.meta["cut_edges"] == 0


def test_the_random_cut_leaves_nodes_alone(gowalla):
    found = measure_rec(cut("co-random-4", gowalla), gowalla)
    alone = found.lone_users + found.lone_items
    assert (alone > 600).all()
    assert (alone < 800).all()


def test_three_groups(gowalla):
    found = cut("dhillon-groups-15", gowalla)
    group = found.meta["group"]
    assert [group.count(name) for name in ("Large-Dense", "Medium-Balanced", "Small-Sparse")] == [1, 4, 10]
    assert found.meta["train"] == sorted(found.meta["train"], reverse=True)
