"""Partitions by METIS: invariants for any graph and number of clients, the split, and what is refused."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fedbench.datasets.node import NodeDataset
from fedbench.errors import ConfigurationError, DataError
from fedbench.partition import metis
from fedbench.partition.build import build_partition
from fedbench.partition.kinds import MetisScheme, SplitSettings
from fedbench.partition.name import PartitionName, parse_name
from fedbench.partition.scheme import load_scheme
from fedbench.partition.split import drawn_split
from fedbench.partition.store import Partition
from fedbench.settings import parse

CONFIGS = Path(__file__).parents[2] / "configs"
METIS = load_scheme("metis", CONFIGS)


def built(text: str, dataset_file: Path, out: Path | None = None):
    out = out or dataset_file.parent / "p.npz"
    build_partition(NodeDataset.read(dataset_file).name, parse_name(text), METIS, dataset_file, out)
    return Partition.read(out)


@pytest.mark.parametrize("clients", [1, 2, 5, 10])
def test_every_node_once_and_the_counts_are_networkxs(grid_file, clients):
    partition, dataset = built(f"metis-{clients}", grid_file), NodeDataset.read(grid_file)
    assert sorted(partition.node.tolist()) == list(range(64))
    assert (partition.client.dtype, partition.node.dtype, partition.split.dtype) == (np.int64, np.int64, np.int8)
    assert partition.clients == clients == np.unique(partition.client).size
    graph = nx.Graph(dataset.edges.T.tolist())
    kept = sum(graph.subgraph(partition.nodes_of(k).tolist()).number_of_edges() for k in range(clients))
    assert (partition.meta["kept_edges"], partition.meta["cut_edges"]) == (kept, 112 - kept)
    assert partition.meta["dataset_digest"] == dataset.digest
    assert np.array_equal(np.lexsort((partition.node, partition.client)), np.arange(64))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 30), st.integers(1, 30), st.integers(0, 2**31 - 1), st.data())
def test_any_graph_is_cut_whole_or_refused(nodes, clients, seed, data):
    assume(clients <= nodes)
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(lambda p: p[0] != p[1])
    half = data.draw(st.lists(pairs, unique=True, max_size=60))
    edges = np.array(sorted({*half, *((b, a) for a, b in half)}), dtype=np.int64).reshape(-1, 2).T
    try:
        parts = metis.metis_clients(edges, nodes, clients, seed)
    except DataError as error:
        assert "METIS left" in error.found
        assert "fewer clients" in error.remedy
    else:
        assert parts.shape == (nodes,)
        assert set(parts.tolist()) == set(range(clients))


def test_the_same_name_gives_the_same_bytes_and_another_seed_another_cut(grid_file, tmp_path):
    first, again, other = (tmp_path / f"{n}.npz" for n in "abc")
    built("metis-4", grid_file, first)
    built("metis-4", grid_file, again)
    built("metis-4-s1", grid_file, other)
    assert first.read_bytes() == again.read_bytes()
    one, two = Partition.read(first), Partition.read(other)
    assert two.meta["seed"] == 1
    assert one.nodes_of(0, 0).tolist() != two.nodes_of(0, 0).tolist()


def test_one_split_whatever_the_number_of_clients(grid_file):
    splits = []
    for clients in (2, 5, 10):
        partition = built(f"metis-{clients}", grid_file)
        splits.append(partition.split[np.argsort(partition.node)].tolist())
    assert splits[0] == splits[1] == splits[2]


@given(st.integers(1, 400), st.floats(0.01, 0.5), st.floats(0.01, 0.49), st.integers(0, 2**32 - 1))
def test_the_split_has_the_shares_it_was_asked_for(nodes, train, test, seed):
    split = drawn_split(nodes, SplitSettings(train=train, test=test), np.random.default_rng(seed))
    assert split.dtype == np.int8
    counts = np.bincount(split, minlength=3)
    assert counts[0] == round(train * nodes)
    assert counts[2] == min(round(test * nodes), nodes - counts[0])
    assert counts.sum() == nodes


def test_coras_split_is_the_papers(cora_file):
    partition = built("metis-10", cora_file)
    assert np.bincount(partition.split).tolist() == [497, 994, 994]


def test_more_clients_than_nodes_is_an_error(grid_file):
    with pytest.raises(DataError, match="1 to 64 clients"):
        built("metis-65", grid_file)
    assert not (grid_file.parent / "p.npz").exists()


def test_an_empty_part_is_an_error_that_says_what_to_do(grid_file, monkeypatch):
    class Cut:
        vertex_part = [0, 2] * 32

    monkeypatch.setattr(metis.pymetis, "part_graph", lambda *_, **__: Cut())
    with pytest.raises(DataError, match="METIS left 1 of them without nodes") as caught:
        built("metis-3", grid_file)
    assert "another partition seed" in caught.value.remedy


def test_metis_really_leaves_parts_empty(grid_file):
    with pytest.raises(DataError, match=r"METIS left \d+ of them without nodes"):
        built("metis-20", grid_file)
    assert not (grid_file.parent / "p.npz").exists()


def test_metis_is_called_k_way_with_a_seed(grid_file, monkeypatch):
    real, seen = metis.pymetis.part_graph, {}
    monkeypatch.setattr(metis.pymetis, "part_graph", lambda *a, **k: seen.update(k) or real(*a, **k))
    built("metis-4", grid_file)
    assert seen["recursive"] is False
    assert 0 <= seen["options"].seed < 2**31


@pytest.mark.parametrize("text", ["metis-10", "metis-10-s3", "fedaux-authors-10", "a1-2-s4"])
def test_names_read_back(text):
    assert str(parse_name(text)) == text


def test_what_a_name_says():
    assert parse_name("fedaux-authors-10") == PartitionName("fedaux-authors", 10, 0)
    assert parse_name("metis-20-s7") == PartitionName("metis", 20, 7)


WRONG = ("metis", "metis-0", "metis-10-s0", "metis-010", "-3", "Metis-3", "metis-3-x", "metis-3-s01")


@pytest.mark.parametrize("text", WRONG)
def test_other_names_are_refused(text):
    with pytest.raises(ConfigurationError, match="metis-10"):
        parse_name(text)


def test_a_misspelt_scheme_gets_a_suggestion():
    with pytest.raises(ConfigurationError, match="did you mean 'metis'"):
        load_scheme("metiss", CONFIGS)


@pytest.mark.parametrize("change", [{"splits": {}}, {"split": {"train": 0.7, "test": 0.4}}, {"scheme": "metiss"}])
def test_a_wrong_scheme_is_refused(change):
    with pytest.raises(ConfigurationError):
        parse(MetisScheme, METIS.model_dump() | change, "test")
