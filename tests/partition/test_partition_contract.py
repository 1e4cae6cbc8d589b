"""What every scheme of the task `node` that draws its clients keeps to, on a 16 x 16 grid."""

import hashlib
import random
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_support import grid

from fedbench.datasets.node import NodeDataset
from fedbench.errors import DataError
from fedbench.partition.build import build_partition
from fedbench.partition.clients import CUTS
from fedbench.partition.graphs.deal import DEALS
from fedbench.partition.graphs.kinds import GraphScheme
from fedbench.partition.kinds import FileScheme, NodeScheme, OverlappingScheme
from fedbench.partition.measures import measure
from fedbench.partition.name import PartitionName
from fedbench.partition.rec.clients import CLUSTERS
from fedbench.partition.rec.kinds import CoScheme
from fedbench.partition.scheme import load_scheme
from fedbench.partition.store import Partition

CONFIGS = Path(__file__).parents[2] / "configs"
ALL = {path.stem: load_scheme(path.stem, CONFIGS) for path in sorted((CONFIGS / "partitions").glob("*.yaml"))}
NODE = {name: scheme for name, scheme in ALL.items() if scheme.task == "node"}
DRAWN = {name: scheme for name, scheme in NODE.items() if not isinstance(scheme, FileScheme)}
DISJOINT = [name for name, scheme in DRAWN.items() if not isinstance(scheme, OverlappingScheme)]
every_scheme = pytest.mark.parametrize("scheme", DRAWN)


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("large") / "grid.npz"
    grid(16).write(path)
    return path


def built(scheme: str, dataset: Path, clients: int = 5, seed: int = 0, out: str = "p.npz") -> Partition:
    name = PartitionName(scheme, clients, seed)
    build_partition("grid", name, DRAWN[scheme], dataset, dataset.parent / out)
    return Partition.read(dataset.parent / out)


def test_every_kind_is_here_and_can_be_cut():
    assert set(CUTS) == set(get_args(NodeScheme)) - {FileScheme}
    assert set(CLUSTERS) == set(get_args(CoScheme))
    assert set(DEALS) == set(get_args(GraphScheme.model_fields["deal"].annotation))
    assert {type(scheme) for scheme in NODE.values()} == set(get_args(NodeScheme))


@every_scheme
@settings(max_examples=12, deadline=None)
@given(clients=st.sampled_from([5, 10]), seed=st.integers(0, 10**6))
def test_invariants(scheme, large, clients, seed):
    partition = built(scheme, large, clients, seed)
    client, node, split = partition.client, partition.node, partition.split
    assert (client.dtype, node.dtype, split.dtype) == (np.int64, np.int64, np.int8)
    assert np.unique(client).tolist() == list(range(clients))
    pairs = list(zip(client.tolist(), node.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    roles = {(int(n), int(s)) for n, s in zip(node, split, strict=True)}
    assert len(roles) == np.unique(node).size
    assert set(split.tolist()) == {0, 1, 2}
    if scheme in DISJOINT:
        assert sorted(node.tolist()) == list(range(256))
    assert partition.meta["kept_edges"] + partition.meta["cut_edges"] == 480


@every_scheme
def test_the_description_is_complete(scheme, large):
    meta, digest = built(scheme, large, 10, 3).meta, NodeDataset.read(large).digest
    told = {"dataset": "grid", "dataset_digest": digest, "scheme": scheme, "clients": 10, "seed": 3}
    assert {key: meta[key] for key in told} == told
    assert set(meta) == {*told, "settings", "kept_edges", "cut_edges"}
    assert type(DRAWN[scheme]).model_validate(meta["settings"]) == DRAWN[scheme]


@every_scheme
def test_the_same_name_gives_the_same_bytes_whatever_was_seeded_before(scheme, large):
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    first = built(scheme, large, out="a.npz")
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    assert built(scheme, large, out="b.npz").digest == first.digest


@every_scheme
def test_nothing_global_is_drawn_from(scheme, large):
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    built(scheme, large)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


@every_scheme
def test_another_seed_gives_another_split_and_other_clients(scheme, large):
    one, other = built(scheme, large, seed=0, out="a.npz"), built(scheme, large, seed=1, out="b.npz")
    assert one.split.tolist() != other.split.tolist()
    assert [one.nodes_of(k).tolist() for k in range(5)] != [other.nodes_of(k).tolist() for k in range(5)]


@pytest.mark.parametrize("scheme", [name for name, scheme in DRAWN.items() if scheme.split == DRAWN["metis"].split])
@pytest.mark.parametrize("clients", [5, 10])
def test_a_global_split_is_the_same_for_every_scheme_and_number_of_clients(scheme, clients, large):
    first = built("metis", large, out="a.npz")
    role = dict(zip(first.node.tolist(), first.split.tolist(), strict=True))
    partition = built(scheme, large, clients, out="b.npz")
    assert all(role[n] == s for n, s in zip(partition.node.tolist(), partition.split.tolist(), strict=True))


@pytest.mark.parametrize("scheme", [name for name, scheme in DRAWN.items() if scheme.split.scope == "client"])
@pytest.mark.parametrize("clients", [5, 10])
def test_a_split_in_each_client_has_its_shares_there(scheme, clients, large):
    partition, shares = built(scheme, large, clients), DRAWN[scheme].split
    found = measure(partition, NodeDataset.read(large))
    assert found.train.tolist() == [round(shares.train * n) for n in found.nodes.tolist()]
    assert found.test.tolist() == [round(shares.test * n) for n in found.nodes.tolist()]


@every_scheme
def test_too_many_clients_are_refused_and_nothing_is_written(scheme, large):
    with pytest.raises(DataError) as caught:
        build_partition("grid", PartitionName(scheme, 260), DRAWN[scheme], large, large.parent / "never.npz")
    assert caught.value.remedy
    assert not (large.parent / "never.npz").exists()


@every_scheme
def test_another_data_set_draws_other_numbers(scheme, large, tmp_path):
    dataset = grid(16)
    dataset.meta["dataset"] = "other"
    dataset.write(tmp_path / "o.npz")
    other = build_partition("other", PartitionName(scheme, 5), DRAWN[scheme], tmp_path / "o.npz", tmp_path / "p.npz")
    assert other.split.tolist() != built(scheme, large).split.tolist()


# sha256 of the arrays' bytes on Cora, so that no change of a draw or a library goes unnoticed: results rest on it.
DIGESTS = {
    "dirichlet": "13fbb3b742f08e712217035cbf3abfc8751c289bdc1aaa8055227a654e158a2d",
    "louvain": "6521b8616c0a3d5f96c44ca18a84aef203d773a3583f2041cdf1b6e8dd1a907d",
    "metis": "adb5c8d52dd59bb8fe087f92e95c6b14842e1ddcbe11235ece576ab1fb73b1ed",
    "metis-arxiv": "1f6037d4c95e7b005c3b79e0d2b4504676a3d3b516fe8c10c0a5b76c34a90ccc",
    "metis-per-client": "8a51f3ac32cd23259924390e5bd9c0ae95a1d1b60c71ceae07f423f720e5de1e",
    "overlapping": "77eba2b3cd9a51a41fba73c24bbf561746e2ae9c2d6e6b25222a629e3fc4de9f",
    "random": "b806de316692aa8a9dfc7b197cf9a9e97fbd2b51e0276deeb70a608984692002",
}


@every_scheme
def test_the_arrays_never_change(scheme, cora_file, tmp_path):
    partition = build_partition("cora", PartitionName(scheme, 10), DRAWN[scheme], cora_file, tmp_path / "p.npz")
    content = b"".join(array.tobytes() for array in (partition.client, partition.node, partition.split))
    found = hashlib.sha256(content).hexdigest()
    assert DIGESTS.get(scheme) == found, f"a new scheme? add to DIGESTS: {scheme!r}: {found!r}"
